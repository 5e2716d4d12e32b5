// A certificate that nobody trusts, and its key: receivers of tests show it to see that it is refused.
export const unknownCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUIvOejrryC+oyx8xleZPK5idrkGYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEyMDQ1N1oYDzIxMjYxMDI5
MTIwNDU3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARB0gakXMjh1r71+5ehfYZtud0qrLdbRzGniIlIxn0SFqerVSEOVf7D
VaKjRl1P4LlsEMWETkK//hqc5ZQEFhomo28wbTAdBgNVHQ4EFgQU+k2sO3BmHAR3
oninii9FiMLHf3YwHwYDVR0jBBgwFoAU+k2sO3BmHAR3oninii9FiMLHf3YwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAIzIdliXJE7u11Uex09tnlDO5+lSIzFiqG9Lv5QgkfrSAiEA
tPU4tBDSD5iNDbJl+cdzJ6o4j9ofgPlBczAoEhtjWQg=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg++7MlUmcEQNGZtSj
iSmb4DPF+kfBw0DcBTyH4HmIfSehRANCAARB0gakXMjh1r71+5ehfYZtud0qrLdb
RzGniIlIxn0SFqerVSEOVf7DVaKjRl1P4LlsEMWETkK//hqc5ZQEFhom
-----END PRIVATE KEY-----
`,
};
