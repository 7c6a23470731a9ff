//! The workbench: long measurements of the properties that the tests sample, detailed reports on one case, and updates
//! of expected files.

fn main() -> std::process::ExitCode {
    kiebitz_workbench::tool::main()
}
