//! The descriptors of both packages, compiled from `proto/`.

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, MessageDescriptor, ServiceDescriptor};

use crate::codec::{Dialect, Method};
use crate::model::Version;

/// Both packages, as their compiler has written them.
pub(super) static DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/a2a.bin"));

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).expect("the compiler of the descriptors has checked them"));

/// One method of one package.
#[derive(Debug, Clone)]
pub(crate) struct Rpc {
    /// Which.
    pub(crate) method: Method,
    /// What it takes.
    pub(crate) input: MessageDescriptor,
    /// What it gives, once or as a stream.
    pub(crate) output: MessageDescriptor,
}

impl Rpc {
    /// The method that `version` calls so.
    pub(crate) fn find(version: Version, name: &str) -> Option<Self> {
        let method = Method::from_grpc(version, name)?;
        let described = service(version)?.methods().find(|method| method.name() == name)?;
        Some(Self { method, input: described.input(), output: described.output() })
    }
}

/// The service of a version.
pub(crate) fn service(version: Version) -> Option<ServiceDescriptor> {
    POOL.get_service_by_name(match version {
        Version::V0_3 => "a2a.v1.A2AService",
        Version::V1_0 => "lf.a2a.v1.A2AService",
    })
}

/// The message that holds the details of an error.
pub(crate) fn status() -> Option<MessageDescriptor> {
    POOL.get_message_by_name("google.rpc.Status")
}

/// How a package spells the model once it is JSON.
pub(crate) fn dialect(version: Version) -> Dialect {
    match version {
        Version::V0_3 => Dialect::Proto03,
        Version::V1_0 => Dialect::Json10,
    }
}
