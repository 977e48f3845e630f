//! gRPC: both packages, transcoded to the JSON forms that the codecs read and write.
