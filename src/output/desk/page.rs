//! The page at which arbiters work. It uses files of the [public one](crate::output::broadcast::page) as well.

use crate::output::broadcast::{File, Files, Life};

/// What a browser may do for the page: speak with the server that it comes from. Nobody may show it in a frame.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The file that is opened first.
pub(crate) const INDEX: &str = "index.html";

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        [$((concat!("desk/", $name), include_bytes!(concat!("page/", $name)).as_slice())),*]
    };
}

/// Everything that the page is made of beside its index, by its path.
const ASSETS: [(&str, &[u8]); 0] = assets![];

/// All files of the page.
pub(crate) fn files() -> Files {
    ASSETS
        .into_iter()
        .map(|(path, content)| (path.into(), File::new(content, Life::Program)))
        .collect()
}
