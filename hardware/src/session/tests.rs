mod faults;
mod keeping;
mod properties;
mod world;
