import type { PersonId } from "../../directory/index.ts";
import {
  addressWith,
  makeSealedCookie,
  type PageRequest,
  passkeyOfferPath,
  readCookie,
  setCookie,
} from "./page-request.ts";

/** A person who has just signed in with this browser, with their password and every second factor that they have. */
export type Offered = { personId: PersonId; generation: number };

export const offerCookie = makeSealedCookie<Offered>("_passkey_offer", {
  secret: "secondFactor",
  purpose: "passkey offer",
  seconds: 600,
});

const askedCookie = "_passkey_asked";
const askedSeconds = 30 * 24 * 3600;

/** Whether somebody was offered a passkey in this browser within the last 30 days. */
export const wasOffered = (request: PageRequest): boolean =>
  readCookie(request, askedCookie, { signed: false }) !== null;

/** Returns the page that offers the person a passkey and then goes on at an address of this service. */
export function offerPasskey(request: PageRequest, person: Offered, address: string): string {
  const { pathname, search } = new URL(address, request.deps.issuerUrl);
  offerCookie.write(request, person);
  setCookie(request, askedCookie, "1", { signed: false, seconds: askedSeconds });
  return addressWith(passkeyOfferPath, pathname + search);
}
