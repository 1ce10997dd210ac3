import { colour, contact, httpsPage, imageFile, keyList, matching, moment, oneOf, wholeNumber } from "../values.ts";
import type { Option } from "../values.ts";

// Published with this code, so it is refused in production.
export const developmentKey = Buffer.from("schultor: only for development!!").toString("base64");

const link = { value: httpsPage, defaultMeaning: "no link" } as const;

export const signOnOptions = {
  ENCRYPTION_KEYS: {
    value: keyList,
    default: developmentKey,
    defaultMeaning: "a published key; refused in production",
    meaning:
      "Keys that encrypt signing keys and other secrets in the database: 32 bytes in base64, separated by " +
      "commas. The first encrypts, each can decrypt. To change the key, put the new one first and keep the old " +
      "one behind it, restart, run `npx schultor re-encrypt`, and remove the old one. The service does not " +
      "start with keys that do not decrypt the secrets in the database.",
    example: "output of `openssl rand -base64 32`",
    secret: true,
  },
  AUTHORIZATION_CODE_SECONDS: {
    value: wholeNumber(5, 600),
    default: "60",
    meaning: "Time in which an app has to exchange an authorization code.",
  },
  ACCESS_TOKEN_SECONDS: {
    value: wholeNumber(60, 86_400),
    default: "3600",
    meaning: "Lifetime of an access token.",
    example: "900",
  },
  ID_TOKEN_SECONDS: {
    value: wholeNumber(60, 86_400),
    default: "3600",
    meaning: "Lifetime of an ID token.",
  },
  REFRESH_TOKEN_SECONDS: {
    value: wholeNumber(3600, 31_536_000),
    default: "2592000",
    meaning: "Lifetime of a refresh token from its last use; every use returns a new one.",
    example: "1209600",
  },
  REFRESH_GRACE_SECONDS: {
    value: wholeNumber(0, 120),
    default: "10",
    meaning:
      "Time in which a refresh token that is used twice returns the same new tokens (two tabs, a lost " +
      "response). After it, a second use revokes the whole family.",
  },
  SESSION_SECONDS: {
    value: wholeNumber(300, 2_592_000),
    default: "36000",
    meaning: "Time a browser stays signed in after its last use, unless the school says otherwise.",
    example: "28800",
  },
  STAFF_SECOND_FACTOR: {
    value: oneOf("required", "offered"),
    defaultMeaning: "`required` in production, else `offered`",
    meaning:
      "Whether people with a staff role must use a second factor. `required`: people without one have to set it " +
      "up before they can open staff pages or give an app a scope of the admin API. `offered`: only people who " +
      "have one are asked for it.",
    example: "required",
  },
  SIGN_ON_WITHOUT_PKCE: {
    value: oneOf("allowed", "refused"),
    default: "allowed",
    meaning:
      "Whether confidential apps may sign people in without PKCE if their registration allows it. With " +
      "`refused` all of them get `invalid_request` and a description of what to send. The dates below do not " +
      "end it.",
    example: "refused",
  },
  SIGN_ON_WITHOUT_PKCE_DEPRECATED: {
    value: moment,
    default: "2026-12-01T00:00:00Z",
    meaning: "Since when sign-on without PKCE is deprecated; sent in the header `Deprecation`.",
  },
  SIGN_ON_WITHOUT_PKCE_SUNSET: {
    value: moment,
    default: "2028-08-01T00:00:00Z",
    meaning:
      "When sign-on without PKCE may end, as announced to partners in the header `Sunset`. Choose a date in the " +
      "summer holidays.",
  },
  PASSWORD_HASH_CONCURRENCY: {
    value: wholeNumber(1, 64),
    defaultMeaning: "the number of processors less one, at most 4 in one process",
    meaning:
      "Passwords checked at the same time. Each uses a processor for about 20 ms and 19 MiB of memory. Further " +
      "sign-ins wait in a queue; those that would wait longer than 5 s get a page that counts down to their " +
      "turn. The processes of `WEB_CONCURRENCY` share this number evenly, and each checks at least one.",
    example: "4",
  },
  PAGES_NAME: {
    value: matching(/^[^\p{C}]{1,60}$/u, "Write a name of 1 to 60 characters."),
    default: "Schultor",
    meaning: "Name of the service on its pages.",
    example: "Bildungsportal Niedersachsen",
  },
  PAGES_LOGO: {
    value: imageFile,
    defaultMeaning: "the logo of Schultor",
    meaning: "File of the logo on every page: SVG or PNG, square.",
    example: "/etc/schultor/logo.svg",
  },
  PAGES_COLOUR: {
    value: colour,
    defaultMeaning: "the green of Schultor",
    meaning: "Main colour of the pages, dark enough for white text on it (contrast of 4.5 by WCAG).",
    example: "#0f5c63",
  },
  LEGAL_NOTICE_URL: {
    ...link,
    meaning: "Legal notice (Impressum), linked on every page.",
    example: "https://www.example.org/impressum",
  },
  PRIVACY_URL: {
    ...link,
    meaning: "Privacy notice, linked on every page.",
    example: "https://www.example.org/datenschutz",
  },
  ACCESSIBILITY_URL: {
    ...link,
    meaning: "Accessibility statement, linked on every page.",
    example: "https://www.example.org/barrierefreiheit",
  },
  HELP_URL: {
    ...link,
    meaning: "Help for people who cannot sign in, linked on every page.",
    example: "https://www.example.org/hilfe",
  },
  SECURITY_CONTACT: {
    value: contact,
    defaultMeaning: "no `/.well-known/security.txt`",
    meaning:
      "Whom to tell of a weakness of the service: an e-mail address, or a page, for `/.well-known/security.txt`.",
    example: "mailto:security@example.org",
  },
} as const satisfies Record<string, Option>;
