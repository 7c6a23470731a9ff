//! Link previews on other sites: title, description and a picture of the position.
//!
//! Sites read previews from `<meta>` tags (Open Graph) and do not run scripts, so each game has a small page of its
//! own, which redirects to the main page. Pictures are PNG, since no large site accepts SVG. The pieces are bitmaps
//! that were rendered in advance, so no SVG renderer is needed.

use core::iter;
use std::io::{Read, Write};
use std::sync::LazyLock;

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use maud::{DOCTYPE, Markup, html};

/// Width of a square, in pixels.
const SQUARE: usize = 60;
/// Width of the picture, in pixels.
const WIDTH: usize = 8 * SQUARE;
/// Bitmaps of the pieces in the order of [`PIECES`], compressed. Each pixel is one byte: opacity in the upper four
/// bits, brightness in the lower four. Drawn by Colin M. L. Burnett, GPL-2.0-or-later, as in `page/chessground`.
const SPRITES: &[u8] = include_bytes!("preview/pieces.zlib");
const PIECES: &str = "PNBRQKpnbrqk";

/// Colours of the squares: light and dark, then light and dark squares of the last move.
const GROUNDS: [[u8; 3]; 4] = [[240, 217, 181], [181, 136, 99], [205, 210, 106], [170, 162, 58]];
/// Number of shades from a square's colour towards black.
const SHADES: usize = 3;
const GRAYS: [u8; 4] = [0, 85, 170, 255];

#[derive(Debug)]
pub(super) struct Preview<'p> {
    pub(super) title: &'p str,
    pub(super) description: &'p str,
    /// Name of the event, as Open Graph's site name.
    pub(super) site: &'p str,
    /// Address of the page.
    pub(super) url: &'p str,
    /// Address of the picture.
    pub(super) picture: Option<&'p str>,
}

impl Preview<'_> {
    /// Returns the tags for the head of a page.
    pub(super) fn tags(&self) -> Markup {
        let width = WIDTH.to_string();
        html! {
            meta property="og:type" content="website";
            meta property="og:site_name" content=(self.site);
            meta property="og:title" content=(self.title);
            meta property="og:description" content=(self.description);
            meta property="og:url" content=(self.url);
            meta name="description" content=(self.description);
            meta name="twitter:card" content="summary";
            @if let Some(picture) = self.picture {
                meta property="og:image" content=(picture);
                meta property="og:image:type" content="image/png";
                meta property="og:image:width" content=(width);
                meta property="og:image:height" content=(width);
                meta property="og:image:alt" content=(self.title);
            }
        }
    }

    /// Returns a page with these tags that immediately redirects to `target`.
    pub(super) fn page(&self, target: &str) -> String {
        let page = html! {
            (DOCTYPE)
            html {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="refresh" content=(format!("0; url={target}"));
                    title { (self.title) " · " (self.site) }
                    (self.tags())
                }
                body { p { a href=(target) { (self.title) } } }
            }
        };
        page.into_string()
    }
}

/// Draws a position as PNG. `last` is the last move in UCI.
pub(super) fn picture(placement: &str, last: Option<&str>) -> Vec<u8> {
    let squares = squares(placement);
    let touched: Vec<usize> = last.into_iter().flat_map(touched).collect();
    let mut lines = Vec::with_capacity(WIDTH * (WIDTH / 2 + 1));
    for y in 0..WIDTH {
        // Each line begins with the number of its filter.
        lines.push(0);
        let line: Vec<u8> = (0..WIDTH)
            .map(|x| {
                let square = y / SQUARE * 8 + x / SQUARE;
                let is_dark = (y / SQUARE + x / SQUARE) % 2 == 1;
                let ground = usize::from(is_dark) + 2 * usize::from(touched.contains(&square));
                let piece = squares.get(square).copied().flatten();
                color(
                    ground,
                    piece.map_or(0, |piece| sprite(piece, x % SQUARE, y % SQUARE)),
                )
            })
            .collect();
        lines.extend(line.chunks(2).map(|pair| match pair {
            [left, right] => (left << 4) | right,
            _ => 0,
        }));
    }
    png(&lines)
}

/// Returns the piece on each square from a8 to h1, as an index into [`PIECES`].
fn squares(placement: &str) -> Vec<Option<usize>> {
    let mut squares = Vec::with_capacity(64);
    for c in placement.chars() {
        match c.to_digit(10) {
            Some(empty) => squares.extend((0..empty).map(|_| None)),
            None if c == '/' => {}
            None => squares.push(PIECES.find(c)),
        }
    }
    squares
}

/// Returns the squares of a move in UCI, counted from a8 to h1.
fn touched(uci: &str) -> impl Iterator<Item = usize> {
    let square = |at: usize| {
        let [file, rank] = uci.as_bytes().get(at..at + 2)? else {
            return None;
        };
        let file = usize::from(file.checked_sub(b'a').filter(|file| *file < 8)?);
        let rank = usize::from(rank.checked_sub(b'1').filter(|rank| *rank < 8)?);
        Some((7 - rank) * 8 + file)
    };
    [0, 2].into_iter().filter_map(square)
}

/// Returns a pixel of a piece, in the format of [`SPRITES`].
fn sprite(piece: usize, x: usize, y: usize) -> u8 {
    static PIXELS: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut pixels = Vec::new();
        // Reading fails only if the embedded file is damaged. Squares then look empty.
        let _ = ZlibDecoder::new(SPRITES).read_to_end(&mut pixels);
        pixels
    });
    let at = (piece * SQUARE + y) * SQUARE + x;
    PIXELS.get(at).copied().unwrap_or_default()
}

/// Returns the colour of a pixel, as an index into the [palette].
fn color(ground: usize, sprite: u8) -> u8 {
    let (opacity, brightness) = (usize::from(sprite >> 4), usize::from(sprite & 15));
    let index = match opacity {
        0..=2 => ground * SHADES,
        // The edges of all pieces are black.
        3..=7 => ground * SHADES + 1,
        8..=12 => ground * SHADES + 2,
        _ => GROUNDS.len() * SHADES + (brightness + 2) / 5,
    };
    u8::try_from(index).unwrap_or_default()
}

/// Returns all colours: the shades of each square colour, then the grays.
fn palette() -> Vec<u8> {
    let shaded = GROUNDS.iter().flat_map(|ground| {
        let shades = [3_u16, 2, 1];
        shades.into_iter().flat_map(|shade| {
            ground.map(|part| u8::try_from(u16::from(part) * shade / 3).unwrap_or_default())
        })
    });
    let grays = GRAYS.into_iter().flat_map(|gray| iter::repeat_n(gray, 3));
    shaded.chain(grays).collect()
}

/// Encodes a PNG with 16 colours and two pixels per byte.
fn png(lines: &[u8]) -> Vec<u8> {
    let side = u32::try_from(WIDTH).unwrap_or_default().to_be_bytes();
    let header = [&side[..], &side, &[4, 3, 0, 0, 0]].concat();
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = packed.write_all(lines);
    let packed = packed.finish().unwrap_or_default();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [
        (b"IHDR", &*header),
        (b"PLTE", &*palette()),
        (b"IDAT", &*packed),
        (b"IEND", &[]),
    ] {
        let length = u32::try_from(content.len()).unwrap_or_default();
        let mut sum = Crc::new();
        sum.update(name);
        sum.update(content);
        png.extend_from_slice(&length.to_be_bytes());
        png.extend_from_slice(name);
        png.extend_from_slice(content);
        png.extend_from_slice(&sum.sum().to_be_bytes());
    }
    png
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    /// Returns the colours of all pixels, after checking the chunks of the PNG and their checksums.
    fn decode(png: &[u8]) -> Vec<Vec<[u8; 3]>> {
        let mut rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("a PNG");
        let mut parts = Vec::new();
        while let [a, b, c, d, after @ ..] = rest {
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            let (part, after) = after.split_at(4 + length);
            let (sum, after) = after.split_at(4);
            let mut crc = Crc::new();
            crc.update(part);
            assert_eq!(sum, crc.sum().to_be_bytes());
            parts.push(part.split_at(4));
            rest = after;
        }
        let names: Vec<_> = parts.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [b"IHDR", b"PLTE", b"IDAT", b"IEND"]);
        let mut lines = Vec::new();
        let size = ZlibDecoder::new(parts[2].1)
            .read_to_end(&mut lines)
            .expect("packed lines");
        assert_eq!(size, WIDTH * (WIDTH / 2 + 1));
        let line_colors = |line: &[u8]| {
            assert_eq!(line[0], 0, "no filter");
            let indexes = line[1..].iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let color = |index: u8| {
                let at = usize::from(index) * 3;
                <[u8; 3]>::try_from(&parts[1].1[at..at + 3]).expect("a colour")
            };
            indexes.map(color).collect()
        };
        lines.chunks(WIDTH / 2 + 1).map(line_colors).collect()
    }

    /// Returns the colours of a square near its corner and near its centre.
    fn square_colors(pixels: &[Vec<[u8; 3]>], square: &str) -> [[u8; 3]; 2] {
        let at = touched(square).next().expect("a square");
        let (x, y) = (at % 8 * SQUARE, at / 8 * SQUARE);
        [pixels[y + 1][x + 1], pixels[y + SQUARE / 2 + 8][x + SQUARE / 2]]
    }

    #[test]
    fn a_picture_shows_pieces_squares_and_the_last_move() {
        let pixels = decode(&picture("4k3/8/8/8/4P3/8/8/4K2p", Some("e2e4")));
        let [white, black] = [[255; 3], [0; 3]];
        assert_eq!(
            square_colors(&pixels, "a1"),
            [GROUNDS[1]; 2],
            "a1 is dark and empty"
        );
        assert_eq!(
            square_colors(&pixels, "a8"),
            [GROUNDS[0]; 2],
            "a8 is light and empty"
        );
        assert_eq!(
            square_colors(&pixels, "e2"),
            [GROUNDS[2]; 2],
            "the pawn has left this light square"
        );
        assert_eq!(square_colors(&pixels, "e4"), [GROUNDS[2], white], "for this one");
        assert_eq!(square_colors(&pixels, "h1"), [GROUNDS[0], black], "a black pawn");
    }

    #[test]
    fn a_picture_is_small() {
        let size = picture(START, None).len();
        assert!((1000..16_000).contains(&size), "{size} bytes");
    }

    #[test]
    fn an_invalid_placement_is_an_empty_board() {
        let pixels = decode(&picture("", Some("--")));
        assert_eq!(square_colors(&pixels, "e1"), [GROUNDS[1]; 2]);
        decode(&picture("999999999999/xyz", Some("z9é")));
    }

    #[test]
    fn names_are_text_in_the_tags() {
        let preview = Preview {
            title: "\"><script>alert(1)</script>",
            description: "Round 1",
            site: "Open",
            url: "https://live.example/round-1/board-1.html",
            picture: Some("https://live.example/round-1/board-1.png"),
        };
        let page = preview.page("../index.html#/round/1/board/1");
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("0; url=../index.html#/round/1/board/1"), "{page}");
        let picture = "property=\"og:image\" content=\"https://live.example/round-1/board-1.png\"";
        assert!(page.contains(picture), "{page}");
    }
}
