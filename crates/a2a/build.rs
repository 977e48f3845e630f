//! Compiles the protocol buffers of both versions to descriptors; nothing has to be installed.

use std::path::PathBuf;
use std::{env, error, fs};

const FILES: [&str; 3] = ["a2a_0_3.proto", "a2a_1_0.proto", "google_rpc.proto"];

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(false).open_files(FILES)?;
    let out = env::var_os("OUT_DIR").ok_or("cargo says where to write")?;
    fs::write(PathBuf::from(out).join("a2a.bin"), compiler.encode_file_descriptor_set())?;
    Ok(())
}
