use super::*;

/// Builder for captures that `CaptureWriter` does not write.
pub(super) struct File {
    pub(super) big_endian: bool,
    pub(super) bytes: Vec<u8>,
}

impl File {
    pub(super) fn new(big_endian: bool) -> Self {
        let mut file = Self {
            big_endian,
            bytes: Vec::new(),
        };
        file.section();
        file
    }

    pub(super) fn section(&mut self) {
        let version = [self.u16(1), self.u16(0)].concat();
        self.block(SHB_MAGIC, &[&self.u32(BOM_MAGIC), &version, &[0xff; 8]]);
    }

    pub(super) fn interface(&mut self, options: &[(u16, &[u8])]) {
        let link_type = [self.u16(LINK_TYPE), self.u16(0)].concat();
        self.block(IDB_MAGIC, &[&link_type, &self.u32(0), &self.options(options)]);
    }

    pub(super) fn packet(&mut self, interface: u32, ticks: u64, bytes: &[u8], options: &[(u16, &[u8])]) {
        let length = self.u32(bytes.len() as u32);
        let ticks = [self.u32((ticks >> 32) as u32), self.u32(ticks as u32)].concat();
        let options = self.options(options);
        let padding = vec![0; bytes.len().next_multiple_of(4) - bytes.len()];
        let interface = self.u32(interface);
        self.block(
            EPB_MAGIC,
            &[&interface, &ticks, &length, &length, bytes, &padding, &options],
        );
    }

    pub(super) fn block(&mut self, block_type: u32, body: &[&[u8]]) {
        let body = body.concat();
        let length = self.u32(body.len() as u32 + 12);
        let block_type = self.u32(block_type);
        self.bytes
            .extend([block_type, length.clone(), body, length].concat());
    }

    pub(super) fn options(&self, options: &[(u16, &[u8])]) -> Vec<u8> {
        let options = options.iter().map(|(code, value)| {
            let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
            [
                self.u16(*code),
                self.u16(value.len() as u16),
                value.to_vec(),
                padding,
            ]
            .concat()
        });
        options.flatten().collect()
    }

    pub(super) fn u16(&self, value: u16) -> Vec<u8> {
        if self.big_endian {
            value.to_be_bytes().to_vec()
        } else {
            value.to_le_bytes().to_vec()
        }
    }

    pub(super) fn u32(&self, value: u32) -> Vec<u8> {
        if self.big_endian {
            value.to_be_bytes().to_vec()
        } else {
            value.to_le_bytes().to_vec()
        }
    }

    pub(super) fn i64(&self, value: i64) -> Vec<u8> {
        if self.big_endian {
            value.to_be_bytes().to_vec()
        } else {
            value.to_le_bytes().to_vec()
        }
    }

    pub(super) fn reader(&self) -> CaptureReader<&[u8]> {
        CaptureReader::new(self.bytes.as_slice()).unwrap()
    }

    pub(super) fn packets(&self) -> Vec<Packet> {
        self.reader().map(Result::unwrap).collect()
    }

    /// Returns the error at which reading ends.
    pub(super) fn error(&self) -> CaptureError {
        self.reader().last().unwrap().unwrap_err()
    }
}
