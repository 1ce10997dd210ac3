import type { Option } from "../option.ts";
import { addressList, httpUrl, matching, oneOf, source, wholeNumber } from "../values.ts";

export const serviceOptions = {
  NODE_ENV: {
    value: oneOf("production", "development", "test"),
    default: "development",
    meaning:
      "`production` refuses settings for development (demo world, default keys, http) and logs JSON lines; " +
      "other values log readable lines and load the demo world.",
    example: "production",
  },
  ISSUER_URL: {
    value: httpUrl("without path"),
    default: null,
    defaultMeaning: "`http://localhost:<PORT>`",
    meaning:
      "Address of the sign-on as seen by browsers and apps. It is the `iss` of every ID token and the base of " +
      "every address of the service. If it changes later, every app has to be reconfigured.",
    example: "https://login.example.org",
  },
  BASE_URL: {
    value: httpUrl("path allowed"),
    default: null,
    defaultMeaning: "`ISSUER_URL`",
    meaning:
      "Address of the IDM API and the Schulconnex endpoints if it differs from the sign-on's. Its path becomes " +
      "the prefix of their paths.",
    example: "https://api.example.org",
  },
  PORT: {
    value: wholeNumber(0, 65_535),
    default: "3000",
    meaning: "TCP port to listen on; 0 chooses a free one.",
    example: "8080",
  },
  HOST: {
    value: matching(/^[A-Za-z0-9.:_-]+$/, "Write an address or host name, such as 0.0.0.0."),
    default: null,
    defaultMeaning: "`localhost`; in production `::` (every address)",
    meaning:
      "Address to listen on. `localhost` means both loopback addresses, so that a demo world is not open to the " +
      "network.",
    example: "0.0.0.0",
  },
  TRUSTED_PROXIES: {
    value: addressList,
    default: null,
    defaultMeaning: "none",
    meaning:
      "Addresses or networks of the reverse proxies in front of the service, separated by commas. Only their " +
      "`X-Forwarded-For` is trusted; it determines the client address for the sign-in limits.",
    example: "10.0.0.0/8",
  },
  PLATFORM: {
    value: matching(/^[a-z0-9][a-z0-9-]{0,31}$/, "Write lower-case letters, digits and hyphens."),
    default: "schultor",
    meaning:
      "The operator's name inside scope identifiers: `urn:<PLATFORM>:idm:v1:schools:read`. Apps write it into " +
      "their requests, so it must not change once apps exist.",
    example: "schultor",
  },
  ROLE: {
    value: oneOf("all", "web", "worker"),
    default: "all",
    meaning:
      "What this process does: handle requests (`web`), run the jobs (`worker`: sweeps, key rotation, logout " +
      "messages, webhooks), or both. Any number of each can share one database.",
    example: "web",
  },
  WEB_CONCURRENCY: {
    value: wholeNumber(1, 256),
    default: null,
    defaultMeaning: "the number of processors in production, else `1`",
    meaning:
      "Processes that handle requests together on one port, each on one processor. With more than one, " +
      "`ROLE=all` has an additional process for the jobs. The first process starts the others, replaces " +
      "processes that end, and returns the sum of all in `/metrics`. `ROLE=worker` is always one process.",
    example: "4",
  },
  PACKAGES_SOURCE: {
    value: source,
    default: null,
    defaultMeaning: "no repository, and the licence in the file LICENSE",
    meaning:
      "Repository and licence (SPDX) that the packages at `/downloads` name: an address and an identifier, " +
      "separated by a space.",
    example: "https://git.example.org/schultor EUPL-1.2",
  },
} as const satisfies Record<string, Option>;
