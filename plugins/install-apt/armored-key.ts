// Converts public keys from the ASCII armor in which they are published to the binary form that gpgv reads.

const BLOCK = /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n([\s\S]*?)-----END PGP PUBLIC KEY BLOCK-----/g;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The bytes of all keys in the text; undefined when there is none. */
export function keyBytes(text: string): Buffer | undefined {
  const keys = [...text.matchAll(BLOCK)].map(([, block = '']) => {
    const lines = block.split('\n').map(line => line.trim());
    // Headers end with a blank line; the line that begins with an equals sign is a checksum.
    const body = lines.slice(lines.indexOf('') + 1).filter(line => BASE64.test(line));
    return Buffer.from(body.join(''), 'base64');
  });
  return keys.length === 0 ? undefined : Buffer.concat(keys);
}
