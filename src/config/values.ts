import { existsSync } from "node:fs";
import { z } from "zod";

export type Option = {
  value: z.ZodType;
  /** Used when the variable is not set; without it there is no value, or `defaultMeaning` describes it. */
  default?: string;
  defaultMeaning?: string;
  meaning: string;
  /** The default, if there is none. */
  example?: string;
  /** Never printed. */
  secret?: true;
};

export const text = z.string();

export const flag = z.enum(["true", "false"], { error: "Write true or false." }).transform((value) => value === "true");

export function oneOf<const Values extends readonly [string, ...string[]]>(...values: Values) {
  return z.enum(values, { error: `Write one of ${values.join(", ")}.` });
}

export function wholeNumber(from: number, to: number) {
  const error = `Write a whole number from ${from} to ${to}.`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(from, error).max(to, error));
}

export const share = z
  .string()
  .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, "Write a number from 0 to 1, such as 0.01.")
  .transform(Number);

/** A repository and a licence. */
export const source = z
  .string()
  .regex(/^https:\/\/[^\s]+ [A-Za-z0-9.+-]+$/, "Write an https address and an SPDX identifier, such as EUPL-1.2.")
  .transform((value) => {
    const [repository, licence] = value.split(" ") as [string, string];
    return { repository, licence };
  });

/** Headers in OpenTelemetry's notation. */
export const headerList = z.string().transform((value, context) => {
  const pairs = value.split(",").map((pair) => /^\s*([A-Za-z0-9_-]+)=((?:[!-$&-~]|%[2-7][0-9A-Fa-f])*)\s*$/.exec(pair));
  if (pairs.includes(null)) {
    context.addIssue("Write name=value pairs separated by commas, with spaces in values as %20.");
    return z.NEVER;
  }
  return Object.fromEntries(pairs.map((pair) => [pair![1]!, decodeURIComponent(pair![2]!)]));
});

export function matching(pattern: RegExp, error: string) {
  return z.string().regex(pattern, error);
}

function parseUrl(value: string, protocols: string[]): URL | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  return url !== null && protocols.includes(url.protocol) && url.hostname !== "" ? url : null;
}

/** An http(s) address without credentials, query or fragment; a trailing slash is dropped. */
export function httpUrl(path: "without path" | "path allowed") {
  return z.string().transform((value, context) => {
    const url = parseUrl(value, ["http:", "https:"]);
    if (url === null || url.username !== "" || url.search !== "" || url.hash !== "") {
      context.addIssue("Write an address that starts with https:// (or http:// in development) and has no query.");
      return z.NEVER;
    }
    const address = url.origin + url.pathname.replace(/\/+$/, "");
    if (path === "without path" && address !== url.origin) {
      context.addIssue("Write scheme and host only, without a path.");
      return z.NEVER;
    }
    return address;
  });
}

export const httpsPage = z
  .string()
  .refine(
    (value) => parseUrl(value, ["https:", "http:"])?.username === "",
    "Write the whole address of a page, starting with https://.",
  );

/** Source: RFC 9116, section 2.5.3. */
export const contact = z
  .string()
  .regex(
    /^(mailto:[\w.'+~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+|https:\/\/[!-~]+)$/,
    "Write mailto: and an e-mail address, or the whole address of a page, starting with https://.",
  );

export const imageFile = z
  .string()
  .regex(/\.(svg|png)$/, "Write the path of an SVG or PNG file.")
  .refine((value) => !/\.(svg|png)$/.test(value) || existsSync(value), "There is no such file.");

/** Source: WCAG 2.2, relative luminance. */
function contrastWithWhite(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

/** A colour dark enough for white text. */
export const colour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, "Write a colour as # and six hexadecimal digits, such as #0f5c63.")
  .refine(
    (value) => !/^#[0-9a-fA-F]{6}$/.test(value) || contrastWithWhite(value) >= 4.5,
    "White text on this colour cannot be read well enough. Choose a darker one.",
  );

export const postgresUrl = z
  .string()
  .refine(
    (value) => parseUrl(value, ["postgres:", "postgresql:"]) !== null,
    "Write an address of the form postgresql://user:password@host:5432/database.",
  );

const keyError =
  "Write one or more keys of 32 bytes in base64, separated by commas. Make one with: openssl rand -base64 32";

export const keyList = z.string().transform((value, context) => {
  const keys = value.split(",").map((part) => part.trim());
  if (keys.some((key) => !/^[A-Za-z0-9+/_-]{43}=?$/.test(key))) {
    context.addIssue(keyError);
    return z.NEVER;
  }
  return keys.map((key) => Buffer.from(key, "base64"));
});

const address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

export const addressList = z
  .string()
  .transform((value) => value.split(",").map((part) => part.trim()))
  .refine(
    (parts) => parts.every((part) => address.safeParse(part).success),
    "Write addresses or networks such as 10.0.0.0/8, separated by commas.",
  );

// Date reads 30 February as 2 March.
const isMoment = (value: string): boolean => {
  const at = new Date(value);
  return !Number.isNaN(at.getTime()) && at.toISOString() === value.replace(/Z$/, ".000Z");
};

export const moment = z
  .string()
  .refine(isMoment, "Write a moment in UTC such as 2028-08-01T00:00:00Z.")
  .transform((value) => new Date(value));

export const secondsList = z
  .string()
  .regex(
    /^\d{1,6}(,\d{1,6}){0,9}$/,
    "Write one to ten whole numbers of seconds, separated by commas, such as 5,300,1800.",
  )
  .transform((value) => value.split(",").map(Number));
