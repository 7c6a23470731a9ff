mod faults;
mod keeping;
mod numbers;
mod properties;
mod world;
