//! The workbench: long measurements of properties that the tests only sample, detailed reports on single cases, and
//! updates of expected files.

fn main() -> std::process::ExitCode {
    kiebitz_workbench::tool::main()
}
