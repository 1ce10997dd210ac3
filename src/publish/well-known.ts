import { Router } from "express";
import { addDays, type Clock } from "../platform/clock.ts";

const securityPath = "/.well-known/security.txt";
/** Counted from the reading: the contact comes from the configuration of now. */
const validDays = 180;

type WellKnown = { issuerUrl: string; securityContact: string | null; clock: Clock; passwordPage: string };

/**
 * Says whom to tell of a weakness, and leads password managers to the page where a password is changed.
 *
 * Source: RFC 9116; W3C, A Well-Known URL for Changing Passwords.
 */
export function makeWellKnown({ issuerUrl, securityContact, clock, passwordPage }: WellKnown): Router {
  const router = Router();
  router.get("/.well-known/change-password", (_request, response) => response.redirect(302, passwordPage));
  router.get(securityPath, (_request, response, next) => {
    if (securityContact === null) return next();
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${addDays(clock(), validDays).toISOString()}`,
      `Canonical: ${new URL(securityPath, issuerUrl).href}`,
      "Preferred-Languages: de, en",
    ];
    response.type("text/plain").send(`${lines.join("\n")}\n`);
  });
  return router;
}
