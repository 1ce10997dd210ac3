import type { Option } from "../option.ts";
import { colour, contact, httpsPage, imageFile, matching } from "../values.ts";

const link = { value: httpsPage, default: null, defaultMeaning: "no link" } as const;

export const pageOptions = {
  PAGES_NAME: {
    value: matching(/^[^\p{C}]{1,60}$/u, "Write a name of 1 to 60 characters."),
    default: "Schultor",
    meaning: "Name of the service on its pages.",
    example: "Bildungsportal Niedersachsen",
  },
  PAGES_LOGO: {
    value: imageFile,
    default: null,
    defaultMeaning: "the logo of Schultor",
    meaning: "File of the logo on every page: SVG or PNG, square.",
    example: "/etc/schultor/logo.svg",
  },
  PAGES_COLOUR: {
    value: colour,
    default: null,
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
    default: null,
    defaultMeaning: "no `/.well-known/security.txt`",
    meaning:
      "Whom to tell of a weakness of the service: an e-mail address, or a page, for `/.well-known/security.txt`.",
    example: "mailto:security@example.org",
  },
} as const satisfies Record<string, Option>;
