import { hash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { makePrintable } from "../../../src/platform/images/printable-image.ts";
import { admin as api, makeStaff, refusalOf } from "../../support/admin.ts";
import { jpeg, makePng } from "../../support/images.ts";
import { makeMakers } from "../../support/make.ts";
import { listPdfImages } from "../../support/read-cards.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const [school, printing] = [await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school, printing] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const path = `/schools/${school}/logo`;
const put = (body: Buffer, type = "image/png", of = path) =>
  admin.call("PUT", of, { body, headers: { "content-type": type } });

async function read(of: string = school): Promise<Response> {
  const token = await issueAppToken(service, secretary.app, ["admin:read"]);
  return fetch(`${service.url}${api}/schools/${of}/logo`, { headers: { authorization: `Bearer ${token}` } });
}

test("a school gets a logo, has it replaced and removed, each with an audit line", async () => {
  expect(refusalOf(await secretary.call("GET", path))).toEqual([404, "logo_not_found"]);
  const hashes: string[] = [];
  for (const [image, type] of [
    [makePng(), "image/png"],
    [jpeg, "image/jpeg"],
  ] as const) {
    // What it is, is read from its bytes, whatever the sender says.
    for (const said of ["image/png", "image/jpeg"]) {
      const kept = await put(image, said);
      expect([kept.status, kept.headers.get("etag")]).toEqual([204, (await read()).headers.get("etag")]);
    }
    service.clock.forwardSeconds(1);
    const answer = await read();
    expect(Buffer.from(await answer.arrayBuffer()).equals(image)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({ "content-type": type, "cache-control": "no-store" });
    hashes.push(hash("sha256", image).slice(0, 32));
  }
  const headers = { "if-match": '"old"' };
  const stale = [412, "precondition_failed"];
  expect(refusalOf(await admin.call("PUT", path, { body: makePng(), headers }))).toEqual(stale);
  expect(refusalOf(await admin.call("DELETE", path, { headers }))).toEqual(stale);
  for (let times = 0; times < 2; times++) expect((await admin.call("DELETE", path)).status).toBe(204);
  expect((await read()).status).toBe(404);
  const where = { action: { startsWith: "school_logo_" }, schoolId: school };
  const lines = await service.db.prisma.audit.findMany({ where, orderBy: { id: "asc" } });
  const [png, later] = hashes;
  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN", schoolId: school };
  expect(lines).toMatchObject([
    { ...actor, action: "school_logo_set", before: { logo: null }, after: { logo: png } },
    { ...actor, action: "school_logo_set", before: { logo: png }, after: { logo: later } },
    { ...actor, action: "school_logo_removed", before: { logo: later }, after: { logo: null } },
  ]);
});

const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);
const html = Buffer.from("<!doctype html><script>alert(1)</script>");
const webp = Buffer.concat([Buffer.from("RIFF....WEBPVP8X", "latin1"), Buffer.alloc(14)]);

test("what is no PNG or JPEG image is refused in words, whatever it is called", async () => {
  const message = "The logo was refused. It is not a PNG or JPEG image.";
  for (const image of [svg, html, webp, Buffer.from("GIF89a"), makePng().subarray(0, 20)])
    expect((await put(image)).body).toMatchObject({ status: 400, code: "logo_refused", message });
  expect(refusalOf(await put(svg, "image/svg+xml"))).toEqual([415, "unsupported_type"]);
  expect(refusalOf(await put(Buffer.alloc(0)))).toEqual([400, "invalid_request"]);
});

test("an image that is too large or not whole is refused", async () => {
  const [png, wide] = [makePng(), makePng({ width: 1025, height: 1 })];
  expect((await put(wide)).body).toMatchObject({ message: expect.stringContaining("1024 pixels") as string });
  expect(refusalOf(await put(Buffer.concat([png, Buffer.alloc(262_144)])))).toEqual([413, "body_too_large"]);
  const bent = Buffer.from(png);
  bent[45]! ^= 255;
  const twoSizes = Buffer.concat([png.subarray(0, 33), png.subarray(8)]);
  for (const image of [png.subarray(0, 50), bent, twoSizes, jpeg.subarray(0, -2), jpeg.subarray(0, 200)])
    expect((await put(image)).body).toMatchObject({
      code: "logo_refused",
      message: "The logo was refused. It is damaged.",
    });
});

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

test("an interlaced image is taken, and one whose data grows to much more than its pixels is refused", () => {
  const image = makePng();
  const head = Buffer.concat([image.subarray(16, 28), Buffer.of(1)]);
  const makeOf = (size: number) => {
    const data = chunk("IDAT", deflateSync(Buffer.alloc(size)));
    return Buffer.concat([image.subarray(0, 8), chunk("IHDR", head), data, chunk("IEND", Buffer.alloc(0))]);
  };
  expect(makePrintable(makeOf(204))).not.toBeNull();
  expect(makePrintable(makeOf(20_000_000))).toBeNull();
});

test("the logo of a school is deleted with it", async () => {
  const id = await make.school();
  const operator = await makeStaff(service, "OPERATOR");
  await operator.call("PUT", `/schools/${id}/logo`, { body: jpeg });
  await service.db.prisma.school.delete({ where: { id } });
  expect(await service.db.prisma.schoolLogo.count({ where: { schoolId: id } })).toBe(0);
});

test("cards are printed with the logo of their school, and without one as before", async () => {
  const group = await make.group({ school: printing });
  await make.person({ school: printing, groups: [group] });
  const logo = `/schools/${printing}/logo`;
  const listImages = async () => {
    const body = { groupId: group, newPasswords: true, withQr: false };
    const made = await admin.call("POST", `/schools/${printing}/login-cards`, { body });
    const { printId } = made.body as { printId: string };
    const token = await issueAppToken(service, admin.app, ["admin:write"]);
    const printed = await fetch(`${service.url}${api}/schools/${printing}/login-cards/prints/${printId}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    return listPdfImages(Buffer.from(await printed.arrayBuffer()));
  };
  await put(jpeg, "image/jpeg", logo);
  expect(await listImages()).toEqual([expect.stringMatching(/ image +8 +6 +rgb .* jpeg /)]);
  await put(makePng(), "image/png", logo);
  expect(await listImages()).toEqual([expect.stringMatching(/ image +8 +6 +rgb .* image /)]);
  await admin.call("DELETE", logo);
  expect(await listImages()).toEqual([]);
});
