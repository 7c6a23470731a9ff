//! HTTP connections for object_store that limit the size of answers, because a faulty server may never stop sending.

use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};

use super::opened::MAX_LISTED_BYTES;
use super::storage_failure::StorageFailure;

/// Opens connections whose answers are limited to the size of a listing.
#[derive(Debug)]
pub(super) struct LimitedConnector;

impl HttpConnector for LimitedConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(LimitedService(client)))
    }
}

#[derive(Debug)]
struct LimitedService(HttpClient);

impl HttpService for LimitedService {
    fn call<'s, 'a>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>
    where
        's: 'a,
        Self: 'a,
    {
        Box::pin(async move {
            let response = self.0.execute(request).await?;
            Ok(response.map(|body| {
                HttpResponseBody::new(LimitedBody {
                    body,
                    remaining: MAX_LISTED_BYTES,
                })
            }))
        })
    }
}

/// The body of an answer. Fails once it exceeds the limit.
struct LimitedBody {
    body: HttpResponseBody,
    remaining: usize,
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            match self.remaining.checked_sub(data.len()) {
                Some(remaining) => self.remaining = remaining,
                None => {
                    let error = HttpError::new(HttpErrorKind::Decode, StorageFailure::ListTooLong);
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::outputs::broadcast::opened::OpenedTarget;
    use crate::outputs::broadcast::settings::Publish;
    use crate::outputs::broadcast::store::open;

    /// Starts a WebDAV server that answers every request with this head and endless content, and opens it as a target.
    async fn endless(head: &'static str) -> OpenedTarget {
        // reqwest needs a TLS provider even for plain HTTP. This call fails if one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let _ = stream.read(&mut [0; 4096]).await;
                    let _ = stream.write_all(head.as_bytes()).await;
                    while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
                });
            }
        });
        let settings = Publish::serving(([127, 0, 0, 1], 1).into());
        let target = format!("http://{address}/chess").parse().expect("a target");
        open(&target, &settings, Duration::from_secs(300)).expect("opened")
    }

    #[tokio::test]
    async fn an_endless_list_of_a_webdav_server_is_given_up() {
        let target = endless("HTTP/1.1 207 Multi-Status\r\nContent-Type: application/xml\r\n\r\n").await;
        assert_eq!(target.list(None).await, Err(StorageFailure::ListTooLong));
    }

    #[tokio::test]
    async fn a_file_that_has_grown_is_not_read() {
        let target = endless(
            "HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\nETag: \"1\"\r\nLast-Modified: Sat, 21 Nov 2026 \
             14:00:00 GMT\r\n\r\n",
        )
        .await;
        assert_eq!(target.get("kiebitz-test.txt").await, Err(StorageFailure::TooLong));
    }
}
