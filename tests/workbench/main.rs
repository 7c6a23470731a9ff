//! The workbench: measures at length what the tests sample, shows one case in detail, and writes expected files anew.

fn main() -> std::process::ExitCode {
    kiebitz_workbench::tool::main()
}
