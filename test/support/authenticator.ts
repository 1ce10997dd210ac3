import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>;

/** Writes CBOR. Source: RFC 8949, as much of it as authenticators need. */
export function encodeCbor(value: Cbor): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
  };
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, item]) => [encodeCbor(key), encodeCbor(item)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
const base64 = (data: Buffer): string => data.toString("base64url");

/** What may be told wrongly of a ceremony. */
export type Told = {
  challenge?: string;
  origin?: string;
  rpId?: string;
  type?: string;
  crossOrigin?: boolean;
  counter?: number;
  isPresent?: boolean;
  isVerified?: boolean;
  credentialId?: Buffer;
  userHandle?: string;
};

export type Authenticator = ReturnType<typeof makeAuthenticator>;

/** An authenticator with one credential, which counts its uses and says whatever it is told to. */
export function makeAuthenticator(site: { origin: string; rpId: string }, userHandle?: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  const own = randomBytes(32);
  const coseKey = encodeCbor(
    new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x!, "base64url")],
      [-3, Buffer.from(y!, "base64url")],
    ]),
  );
  let uses = 0;

  const clientData = (type: string, challenge: string, told: Told): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: told.type ?? type,
        challenge: told.challenge ?? challenge,
        origin: told.origin ?? site.origin,
        crossOrigin: told.crossOrigin ?? false,
      }),
    );

  const authData = (
    { rpId = site.rpId, isPresent = true, isVerified = true, ...told }: Told,
    made?: Buffer,
  ): Buffer => {
    const flags = (isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (made ? 64 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(told.counter ?? (uses += 1));
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, made ?? Buffer.alloc(0)]);
  };

  return {
    /** The answer to the options of a registration. */
    register(options: { challenge: string; user?: { id: string } }, told: Told = {}) {
      userHandle = options.user?.id;
      const id = told.credentialId ?? own;
      const length = Buffer.from([id.length >> 8, id.length & 255]);
      const made = Buffer.concat([Buffer.alloc(16), length, id, coseKey]);
      const attestation = new Map<string, Cbor>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData(told, made)],
      ]);
      return {
        id: base64(id),
        rawId: base64(id),
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64(clientData("webauthn.create", options.challenge, told)),
          attestationObject: base64(encodeCbor(attestation)),
          transports: ["internal"] as unknown,
        },
      };
    },
    /** The answer to the options of a sign-in. */
    prove(options: { challenge: string }, told: Told = {}) {
      const id = base64(told.credentialId ?? own);
      const [client, data] = [clientData("webauthn.get", options.challenge, told), authData(told)];
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return {
        id,
        rawId: id,
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64(client),
          authenticatorData: base64(data),
          signature: base64(signature),
          userHandle: told.userHandle ?? userHandle,
        },
      };
    },
    /** What the service stores of the credential. */
    stored: { credentialId: base64(own), publicKey: new Uint8Array(coseKey) },
    get uses() {
      return uses;
    },
  };
}
