import { randomBytes } from "node:crypto";
import { HOTP, Secret, TOTP } from "otpauth";

const stepSeconds = 30;
const secretBytes = 20;

export const makeTotpSecret = (): Buffer => randomBytes(secretBytes);

const secretOf = (bytes: Buffer): Secret => new Secret({ buffer: new Uint8Array(bytes).buffer });

export const totpPurpose = (id: string): string => `second factor ${id}`;

export const spellTotpSecret = (bytes: Buffer): string => secretOf(bytes).base32.replace(/(.{4})(?=.)/g, "$1 ");

/** The address in the QR code. Source: the key URI format of Google Authenticator. */
export function makeTotpAddress(bytes: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  return new TOTP({ issuer, label: account, secret: secretOf(bytes), period: stepSeconds }).toString();
}

/** Finds the time step of a code: the present one or a neighbour, because clocks differ. Source: RFC 6238, 5.2. */
export function findTotpStep(bytes: Buffer, code: string, now: Date): number | null {
  const counter = Math.floor(now.getTime() / 1000 / stepSeconds);
  if (!/^\d{6}$/.test(code)) return null;
  const delta = HOTP.validate({ token: code, secret: secretOf(bytes), counter, window: 1 });
  return delta === null ? null : counter + delta;
}
