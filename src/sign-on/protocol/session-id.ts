import { hmac } from "../../platform/crypto/hmac.ts";

/** The `sid` of a session for an app with ids of its own: the same for two apps, it would join what they know. */
export const makeOwnSid = (key: Buffer, uid: string, clientId: string): string =>
  hmac(key).update(`sid\0${clientId}\0${uid}`).digest("base64url");
