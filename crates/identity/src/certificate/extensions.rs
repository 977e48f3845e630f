//! The extensions' names: provisional ones below 2.25, made of UUIDs.

/// The extensions that are marked critical: whoever checks a chain must know that they are understood.
/// The content octets of their object identifiers.
pub const CRITICAL: &[&[u8]] = &[&SUBJECT_AGENT_ID, &PRINCIPAL_ID, &AUTHORITY_SCOPE_COMMITMENT];

pub(super) static SUBJECT_AGENT_ID: [u8; 20] = oid(268315605531543067570885820853135175300);
pub(super) static PRINCIPAL_ID: [u8; 19] = oid(1702125237121760683219637876567909613);
pub(super) static AUTHORITY_SCOPE_COMMITMENT: [u8; 20] = oid(282163161526436136340860154693646256049);
pub(super) static GOVERNANCE_ZONE: [u8; 20] = oid(166172302800383381461126246055580541663);
pub(super) static TRUST_TIER: [u8; 20] = oid(198335757712203466569903271149789286606);
pub(super) static ARCHETYPE: [u8; 19] = oid(73414372111527645744102975685149753054);
pub(super) static ACTIVATION_CERTIFICATE_ID: [u8; 20] = oid(251807688045435852997712124138766290036);
pub(super) static AGTP_CTL_SCT: [u8; 20] = oid(265641071119838462866957460025010755013);

/// The content octets of `2.25.{arc}`. X.690 8.19. A wrong `LEN` does not compile.
const fn oid<const LEN: usize>(arc: u128) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    bytes[0] = 2 * 40 + 25;
    let mut at = LEN - 1;
    let mut rest = arc >> 7;
    bytes[at] = (arc & 0x7f) as u8;
    while rest > 0 {
        at -= 1;
        bytes[at] = 0x80 | (rest & 0x7f) as u8;
        rest >>= 7;
    }
    assert!(at == 1);
    bytes
}
