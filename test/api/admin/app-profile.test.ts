import { PNG } from "pngjs";
import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type AdminApp = components["schemas"]["AdminApp"];

const service = await startService();
const make = makeMakers(service.db);
const [own, foreign] = [await make.app({ name: "Own" }), await make.app({ name: "Foreign" })];
const operator = await makeStaff(service, "OPERATOR");
const partner = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });
const path = `/apps/${own.clientId}`;
const read = async () => (await partner.call("GET", path)).body as AdminApp;

const png = (width = 3, height = 2): Buffer => PNG.sync.write(new PNG({ width, height }));
const jpeg = (width: number, height: number): Buffer => {
  const frame = Buffer.from([
    0xff,
    0xc0,
    0,
    17,
    8,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    ...Array(10).fill(0),
  ]);
  return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0]), frame]);
};
const webp = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(30);
  bytes.write("RIFF....WEBPVP8X", "latin1");
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
};

test("a partner says what an app is; a language that is left out stays, and null removes", async () => {
  const before = await read();
  const description = { de: "Üben.\r\nJeden Tag.", en: "Exercises." };
  const texts = {
    provider: "Lernapp GmbH",
    privacyUrl: "https://app.example/privacy",
    supportAddress: "help@app.example",
  };
  expect((await partner.call("PATCH", path, { body: { ...texts, description } })).status).toBe(204);
  const kept = { de: "Üben.\nJeden Tag.", en: "Exercises." };
  expect(await read()).toEqual({ ...before, ...texts, description: kept });
  const more = { description: { en: null }, purpose: { de: "Name und Klasse." }, provider: null };
  const changed = await partner.call("PATCH", path, { body: { ...more, name: "Own app" } });
  const now = await operator.call("GET", path);
  expect(now.body).toMatchObject({
    name: "Own app",
    provider: null,
    privacyUrl: texts.privacyUrl,
    description: { de: kept.de, en: null },
    purpose: { de: "Name und Klasse.", en: null },
  });
  expect(changed.headers.get("etag")).toBe(now.headers.get("etag"));
  const lines = await service.db.prisma.audit.findMany({
    where: { clientId: own.clientId, action: "app_updated" },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ after }) => after)).toContainEqual({ ...texts, description: kept });
  expect(lines.every(({ actorRole }) => actorRole === "PARTNER")).toBe(true);
  const listed = (await operator.call("GET", "/apps?search=own")).body as AdminApp[];
  expect(listed).toMatchObject([{ description: { de: kept.de, en: null } }]);
});

test("an app is registered with its texts", async () => {
  const body = { name: "Told", provider: "Verlag", purpose: { en: "Names." } };
  const made = await operator.call("POST", "/apps", { body });
  const { clientId } = made.body as { clientId: string };
  expect((await operator.call("GET", `/apps/${clientId}`)).body).toMatchObject({
    provider: "Verlag",
    purpose: { de: null, en: "Names." },
    description: { de: null, en: null },
  });
});

test("a script is a text like any other, and addresses of scripts, invisible characters and long texts are refused", async () => {
  const script = `<script>alert("x")</script>`;
  expect((await partner.call("PATCH", path, { body: { name: script, description: { de: script } } })).status).toBe(204);
  expect(await read()).toMatchObject({ name: script, description: { de: script } });
  for (const body of [
    { privacyUrl: "javascript:alert(1)" },
    { privacyUrl: "http://app.example/" },
    { supportAddress: "javascript:alert(1)" },
    { supportAddress: "a@b" },
    ...["?cc=spy", "&bcc=spy", "%0aBcc: spy", "%3Fcc=spy", "#", "/", "\n"].map((part) => ({
      supportAddress: `help${part}@app.example`,
    })),
    { supportAddress: "help@app.example?cc=spy@evil.example" },
    { supportAddress: "tel:+4912345" },
    ...["data:text/html,x", "javascript://app.example/%0aalert(1)", "mailto:help@app.example"].flatMap((address) => [
      { supportAddress: address },
      { privacyUrl: address },
    ]),
    { supportAddress: "a b@app.example" },
  ])
    expect(refusalOf(await partner.call("PATCH", path, { body })), JSON.stringify(body)).toEqual([400, "uri_refused"]);
  const refusals = [];
  for (const body of [
    { purpose: { de: "a\u202eb" } },
    { purpose: { de: " \n " } },
    { provider: "x".repeat(201) },
    { description: { en: "x".repeat(2001) } },
    { description: { fr: "x" } },
  ])
    refusals.push(refusalOf(await partner.call("PATCH", path, { body })));
  const invalid = [400, "invalid_request"];
  expect(refusals).toEqual([
    ...[
      [400, "text_unprintable"],
      [400, "text_empty"],
    ],
    ...[invalid, invalid, invalid],
  ]);
});

test("a logo is served to everybody at an address of its own, as an image and nothing else", async () => {
  for (const [image, type, ending] of [
    [png(), "image/png", "png"],
    [jpeg(1024, 1024), "image/jpeg", "jpg"],
    [webp(1024, 1), "image/webp", "webp"],
  ] as const) {
    const put = await partner.call("PUT", `${path}/logo`, { body: image, headers: { "content-type": type } });
    const app = await operator.call("GET", path);
    expect([put.status, put.headers.get("etag")]).toEqual([204, app.headers.get("etag")]);
    const { logoPath } = app.body as AdminApp;
    expect(logoPath).toMatch(new RegExp(`^/assets/apps/${own.clientId}/[0-9a-f]{32}\\.${ending}$`));
    const answer = await fetch(service.url + logoPath!);
    expect(Buffer.from(await answer.arrayBuffer()).equals(image)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": type,
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'",
      "cache-control": "public, max-age=31536000, immutable",
    });
  }
  const { logoPath } = await read();
  for (const other of [
    `/assets/apps/${own.clientId}/${"0".repeat(32)}.webp`,
    `${logoPath!}x`,
    `/assets/apps/none/x.png`,
  ])
    expect((await fetch(service.url + other)).status, other).toBe(404);
  const stale = { "if-match": '"old"' };
  expect((await partner.call("DELETE", `${path}/logo`, { headers: stale })).status).toBe(412);
  expect((await partner.call("PUT", `${path}/logo`, { body: png(), headers: stale })).status).toBe(412);
  expect((await partner.call("DELETE", `${path}/logo`)).status).toBe(204);
  expect((await partner.call("DELETE", `${path}/logo`)).status).toBe(204);
  expect((await read()).logoPath).toBeNull();
  expect((await fetch(service.url + logoPath!)).status).toBe(404);
  const actions = { in: ["app_logo_set", "app_logo_removed"] };
  const lines = await service.db.prisma.audit.findMany({
    where: { clientId: own.clientId, action: actions },
    orderBy: { id: "asc" },
  });
  expect(lines).toHaveLength(4);
  expect(lines.find(({ action }) => action === "app_logo_removed")).toMatchObject({
    actorRole: "PARTNER",
    before: { logoPath },
    after: { logoPath: null },
  });
});

test("what is no image, too large, of another type, or for an app of others is refused", async () => {
  const put = async (body: Buffer, type = "image/png", of = path) =>
    refusalOf(await partner.call("PUT", `${of}/logo`, { body, headers: { "content-type": type } }));
  const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);
  expect(await put(svg)).toEqual([400, "logo_refused"]);
  expect(await put(Buffer.from("GIF89a"))).toEqual([400, "logo_refused"]);
  expect(await put(png().subarray(0, 20))).toEqual([400, "logo_refused"]);
  expect(await put(png(1025, 1))).toEqual([400, "logo_refused"]);
  expect(await put(jpeg(1, 1025))).toEqual([400, "logo_refused"]);
  expect(await put(webp(1025, 1))).toEqual([400, "logo_refused"]);
  expect(await put(Buffer.alloc(262_145))).toEqual([413, "body_too_large"]);
  expect(await put(svg, "image/svg+xml")).toEqual([415, "unsupported_type"]);
  expect(await put(png(), "application/json")).toEqual([415, "unsupported_type"]);
  expect(await put(Buffer.alloc(0))).toEqual([400, "invalid_request"]);
  expect(await put(png(), "image/png", `/apps/${foreign.clientId}`)).toEqual([404, "app_not_found"]);
  expect(await put(png(), "image/png", "/apps/none")).toEqual([404, "app_not_found"]);
});
