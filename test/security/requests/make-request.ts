import type { Caller, Place } from "./operations.ts";

export type Random = { next(): number; below(limit: number): number; pick<T>(list: readonly T[]): T };

/** Always the same numbers for a seed. Source: mulberry32, a public domain generator. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, pick: (list) => list[below(list.length)]! };
}

export type Kind = "valid" | "nearly" | "hostile" | "raw";
/** `isCut`: the client ends the connection behind the last byte, for the service would wait for more. */
export type Generated = { kind: Kind; caller: Caller | null; bytes: Buffer; pieces: number; isCut: boolean };
/** The header Authorization of each caller. */
export type Credentials = Record<Caller, string>;

type Draft = { method: string; path: string; query: [string, string][]; headers: [string, string][]; body: Buffer };

const long = "a".repeat(9000);
const texts = [
  ...["", " ", "\u0000", "%00", "null", "undefined", "true", "-1", "0", "1e999", "9".repeat(400), "NaN", "[]", "{}"],
  ...[
    "' OR 1=1 --",
    '"; --',
    "\\",
    "${7*7}",
    "{{7*7}}",
    "<script>alert(1)</script>",
    "../../../etc/passwd",
    "..%2f..%2f",
  ],
  ...[
    "%c0%ae%c0%ae/",
    "%",
    "%zz",
    "%u0041",
    "\ud800",
    "\u202e",
    "😀".repeat(50),
    "ä".normalize("NFD"),
    "\r\nx: y",
    long,
  ],
  ...["__proto__", "constructor", "toString", "http://127.0.0.1:1/", "file:///etc/passwd", "javascript:alert(1)"],
];
const paths = [
  ...["/", "/sign-in", "/interaction/x", "/interaction/x/login", "/card", "/card/x", "/account", "/admin/schools"],
  ...["/partner", "/docs", "/docs/errors", "/openapi", "/openapi/idm.yaml", "/health/live", "/health/ready"],
  ...["/metrics", "/assets/x.js", "/oauth2", "/.well-known/x", "//", "/%2e%2e/", "/idm", "/sign-in/second-factor"],
  ...["/sign-in/password", "/oauth2/sessions/logout/confirm", "/oauth2/sessions/logout/success", "/oauth2/auth/x"],
];
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "get"];
const types = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/xml", "image/png"];
const encode = (text: string, { next }: Random): string =>
  next() < 0.5 ? encodeURIComponent(text.toWellFormed()) : text.replaceAll(/[\s\u0000#]/g, "+");

const bodies: ((random: Random, draft: Draft) => Buffer | string)[] = [
  (random, { body }) => body.subarray(0, random.below(body.length + 1)),
  (random) => "[".repeat(random.pick([10, 1000, 20_000])),
  (random) => `${'{"a":'.repeat(5000)}1${"}".repeat(random.pick([0, 5000]))}`,
  (random) => Buffer.alloc(random.pick([100_000, 300_000]), "a"),
  () => Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0x80]),
  (random) =>
    random.pick(["null", "[]", "1", '"x"', "true", "{", "", "\ufeff{}", '{"a":1,"a":2}', "1e999", '{"a":"\\ud800"}']),
  (random) => `{"__proto__":{"x":1},"constructor":{"prototype":{}},"id":${JSON.stringify(random.pick(texts))}}`,
  (random, { body }) => replaceValue(random, body.toString()),
  (random) => `a=${"&a=1".repeat(random.pick([10, 2000]))}`,
  (random) => `%=%&=${random.pick(["%zz", "%00", "[]", "a[b][c]=d"])}&grant_type=${random.pick(["x", "", "\u0000"])}`,
];

function replaceValue(random: Random, text: string): string {
  const values = [...text.matchAll(/"[^"]*"|\b\d+\b|=[^&]*/g)];
  if (values.length === 0) return text;
  const { index, 0: value } = random.pick(values);
  const put = value.startsWith("=") ? `=${encode(random.pick(texts), random)}` : JSON.stringify(random.pick(texts));
  return text.slice(0, index) + put + text.slice(index + value.length);
}

const oddHeaders = (random: Random): [string, string] =>
  random.pick<[string, string]>([
    ["Authorization", `Bearer ${random.pick(["x", long.slice(0, 4000), "a.b.c", "\u00e4", "", "x y"])}`],
    ["Authorization", `Basic ${random.pick(["x", "Og==", "OjpAOg==", "/w==", "AAAA", long.slice(0, 2000)])}`],
    ["Cookie", random.pick(["_session=x; _session.sig=y", "=;;=", `x=${long}`, "_interaction=\u00e4", "__proto__=1"])],
    ["Accept", random.pick(["*/*", "text/html", "application/json;q=x", ",,;", "a/b".repeat(500)])],
    ["Accept-Language", random.pick(["de", "x-\u00e4", "*;q=9", "en,".repeat(500)])],
    ["If-None-Match", random.pick(["*", '"', 'W/"x"', '"x",'.repeat(500)])],
    ["If-Match", random.pick(["*", '"', "x"])],
    ["Idempotency-Key", random.pick(["x", "", long.slice(0, 3000)])],
    ["Content-Encoding", random.pick(["gzip", "br", "deflate", "x", "gzip, gzip"])],
    [
      "Content-Type",
      random.pick([...types, "application/json; charset=utf-7", "multipart/form-data; boundary=", "/", ""]),
    ],
    ["Host", random.pick(["evil.example", "", "a b", "localhost:99999", "[::1"])],
    ["X-Forwarded-For", random.pick(["1.2.3.4", "x", "::ffff:1", ",".repeat(500)])],
    ["X-Request-Id", random.pick(["x", "\u00e4", long.slice(0, 3000)])],
    ["Range", "bytes=0-1,5-9"],
    ["Expect", random.pick(["100-continue", "x"])],
    ["Upgrade", "websocket"],
    ["Origin", random.pick(["null", "https://evil.example", "x"])],
    ["X-Long", "b".repeat(random.pick([1000, 20_000]))],
  ]);

const changes: ((random: Random, draft: Draft) => void)[] = [
  (random, draft) => void (draft.method = random.pick(methods)),
  (random, draft) => void (draft.path = draft.path.replace(/[^/]*$/, () => encode(random.pick(texts), random))),
  (random, draft) => void (draft.path += random.pick(["/", "//", "/..", "%2f", ";a=b", "/%00", ".json", "?", "\\"])),
  (random, draft) => void (draft.path = random.pick(paths)),
  (random, draft) => void (draft.path = draft.path.toUpperCase().slice(0, 1 + random.below(draft.path.length))),
  (random, draft) => void draft.query.push([random.pick(["x", "a[]", "__proto__", ...texts]), random.pick(texts)]),
  (random, draft) => {
    const given = draft.query[random.below(draft.query.length)];
    if (given !== undefined) draft.query.push([given[0], random.pick([given[1], ...texts])]);
  },
  (random, draft) => {
    const given = draft.query[random.below(draft.query.length)];
    if (given !== undefined) given[1] = random.pick(texts);
  },
  (random, draft) => void draft.headers.push(oddHeaders(random)),
  (random, draft) => void draft.headers.splice(random.below(draft.headers.length), 1),
  (random, draft) => void (draft.body = Buffer.from(random.pick(bodies)(random, draft))),
];

function makeValid(random: Random, place: Place, credentials: Credentials): Draft {
  return {
    method: place.method,
    path: place.path,
    query: place.query.filter(([, value]) => value !== "" && random.next() < 0.3),
    headers: [
      ["Host", "localhost"],
      ["Authorization", credentials[place.caller]],
      ...(place.body === null ? [] : [["Content-Type", place.body.type] as [string, string]]),
    ],
    body: Buffer.from(place.body?.text ?? ""),
  };
}

function write({ method, path, query, headers, body }: Draft, random: Random): Buffer {
  const asked = query.map(([name, value]) => `${encode(name, random)}=${encode(value, random)}`).join("&");
  const target = (asked === "" ? path : `${path}?${asked}`).replaceAll(/[\s\u0000]/g, "+");
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n\u0000]/g, " ")}`),
    ...(body.length > 0 ? [`Content-Length: ${body.length}`] : []),
    "Connection: close",
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
}

const post =
  "POST /oauth2/token HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n";
const get = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
const raws = [
  ...["", "\r\n\r\n", "GET", "GET / HTTP/1.1", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x", "GET /\r\n\r\n"],
  ...[
    "GET / HTTP/9.9\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\u0016\u0003\u0001\u0002",
  ],
  ...[
    "CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    `${get}\r\n${get}\r\n${get}\r\n`,
  ],
  `GET http://evil.example/health/live HTTP/1.1\r\nHost: x\r\n\r\n`,
  `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${get}\r\n`,
  `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\na=bcd`,
  `${post}Content-Length: -1\r\n\r\na=b`,
  `${post}Content-Length: 1e3\r\n\r\na=b`,
  `${post}Content-Length: 500\r\n\r\na=b`,
  `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\na=b\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\na=b`,
  `${post}Transfer-Encoding: chunked\r\n\r\n3\r\na=b`,
  `${post}Transfer-Encoding: chunked, identity\r\n\r\n3\r\na=b\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${get}\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\n3;${"x".repeat(20_000)}\r\na=b\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: ${"x".repeat(20_000)}\r\n\r\n`,
  `${get} folded: x\r\n\r\n`,
  `${get}X: a\u0000b\r\n\r\n`,
  `${get}X: a\rb\r\n\r\n`,
  `${get}X\r\n\r\n`,
  `${get}: x\r\n\r\n`,
  `${get}Host: y\r\n\r\n`,
  `${get}${"X: y\r\n".repeat(3000)}\r\n`,
  `GET /${"a".repeat(30_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /health/live HTTP/1.1\nHost: x\n\n`,
];

/** The request of an example of the contract. */
export function makeValidRequest(random: Random, place: Place, credentials: Credentials): Generated {
  const bytes = write(makeValid(random, place, credentials), random);
  return { kind: "valid", caller: place.caller, pieces: 1, bytes, isCut: false };
}

/** The next request: an eighth as the contract wants it, most with one change, some with many, some no HTTP at all. */
export function makeRequest(random: Random, places: readonly Place[], credentials: Credentials): Generated {
  const pieces = random.pick([1, 1, 1, 1, 1, 1, 3, 7]);
  const kind = random.pick<Kind>(["valid", "nearly", "nearly", "nearly", "hostile", "hostile", "hostile", "raw"]);
  if (kind === "raw") {
    return { kind, caller: null, pieces, bytes: Buffer.from(random.pick(raws), "latin1"), isCut: true };
  }
  const place = random.pick(places);
  const draft = makeValid(random, place, credentials);
  const count = { valid: 0, nearly: 1, hostile: 2 + random.below(4) }[kind];
  for (let made = 0; made < count; made++) random.pick(changes)(random, draft);
  return { kind, caller: place.caller, pieces, bytes: write(draft, random), isCut: false };
}
