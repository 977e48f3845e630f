//! Certificates of agents: any bytes are one or a fault, and what is read is read again alike.

#![no_main]

use forecourt_identity::certificate::AgentCertificate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|der: &[u8]| {
    if let Ok(certificate) = AgentCertificate::parse(der) {
        assert_eq!(AgentCertificate::parse(der).ok(), Some(certificate));
        assert!(AgentCertificate::parse(&[der, &[0]].concat()).is_err(), "nothing stands behind it");
    }
});
