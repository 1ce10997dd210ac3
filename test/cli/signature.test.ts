import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import {
  eventFaults,
  explainSignature,
  signatureFaults,
  signatureFaultTexts,
  type ReceivedEvent,
} from "../../clients/tools/src/signature/index.ts";

// The example of openapi/webhooks.yaml.
const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
const text =
  '{"event":"person","action":"update","updatedProperties":["groups"],"personId":"c0000000-0000-4000-8000-000000000002"}';
const ep = "7d39f73a8da5a01e17d23ca6de0d45642b993d98844b06351528b2e4f12f92ef";
const standard = "v1,rOJqom4q83sAKuWnAzSXvvMNk3l1d36nEByQZfP69XY=";
const [id, time] = ["019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10", "1770105600"];
const headers = {
  "webhook-id": id,
  "webhook-timestamp": time,
  "x-ep-signature-sha256": ep,
  "webhook-signature": standard,
};
const now = new Date(1_770_105_660_000);
const explain = (of: Partial<ReceivedEvent>) =>
  explainSignature({ headers, body: Buffer.from(text), secret, now, ...of });
const bare = secret.slice(6);
const key = Buffer.from(bare, "base64");
const mac = (by: string | Buffer, data: string, as: "hex" | "base64" | "base64url" = "hex") =>
  createHmac("sha256", by).update(data).digest(as);

test("the example of the contract is good", () => {
  const report = explain({});
  expect(report).toMatchObject({ isGood: true, faults: [], bodyBytes: 117, ageSeconds: 60 });
  expect(report.compared.map(({ scheme, isGood }) => [scheme, isGood])).toEqual([
    ["ep", true],
    ["standard", true],
  ]);
});

test("hex in capital letters, and one good signature among several, are good", () => {
  const several = { ...headers, "x-ep-signature-sha256": ep.toUpperCase(), "webhook-signature": `v1,AAAA ${standard}` };
  expect(explain({ headers: several }).isGood).toBe(true);
});

const signed = `${id}.${time}.${text}`;

test.each<[fault: string, computed: string, scheme: string, faults: string[]]>([
  ["hex for base64", `v1,${mac(key, signed)}`, "standard", ["form_hex"]],
  ["capital hex for base64", `v1,${mac(key, signed).toUpperCase()}`, "standard", ["form_hex", "form_upper_case"]],
  ["base64 for hex", mac(secret, text, "base64"), "ep", ["form_base64"]],
  ["base64url", `v1,${mac(key, signed, "base64url")}`, "standard", ["form_base64url"]],
  ["no v1,", mac(key, signed, "base64"), "standard", ["prefix_missing"]],
  ["v1, before hex", `v1,${mac(secret, text)}`, "ep", ["prefix_v1"]],
  ["sha256= before hex", `sha256=${mac(secret, text)}`, "ep", ["prefix_sha256"]],
  ["the secret without its prefix", mac(bare, text), "ep", ["secret_without_prefix"]],
  ["the decoded secret", mac(key, text), "ep", ["secret_decoded"]],
  ["the text of the secret", `v1,${mac(secret, signed, "base64")}`, "standard", ["secret_as_text"]],
  [
    "the prefix decoded too",
    `v1,${mac(Buffer.from(secret, "base64"), signed, "base64")}`,
    "standard",
    ["secret_decoded_with_prefix"],
  ],
  ["a line end at the secret", mac(`${secret}\n`, text), "ep", ["secret_with_line_end"]],
  ["the body alone", `v1,${mac(key, text, "base64")}`, "standard", ["signed_body_alone"]],
  ["id and time too", mac(secret, signed), "ep", ["signed_with_id_and_time"]],
  ["no time", `v1,${mac(key, `${id}.${text}`, "base64")}`, "standard", ["signed_without_time"]],
  ["no id", `v1,${mac(key, `${time}.${text}`, "base64")}`, "standard", ["signed_without_id"]],
  [
    "JSON written with spaces",
    mac(secret, text.replaceAll('":', '": ').replaceAll(',"', ', "')),
    "ep",
    ["body_written_again"],
  ],
  ["indented JSON", mac(secret, JSON.stringify(JSON.parse(text), null, 2)), "ep", ["body_indented"]],
  [
    "two faults",
    mac(bare, `${text}\n`, "base64"),
    "ep",
    ["secret_without_prefix", "body_line_end_added", "form_base64"],
  ],
])("what an app computes with %s is recognised", (_, computed, scheme, faults) => {
  const report = explain({ computed });
  expect(report.isGood).toBe(false);
  expect(report.compared.at(-1)).toMatchObject({ source: "computed", scheme, isGood: false, faults });
});

test.each<[fault: string, body: string | Buffer, signedText: string, faults: string[]]>([
  ["a line end behind it", `${text}\n`, text, ["body_trimmed"]],
  ["no line end any more", text, `${text}\r\n`, ["body_line_end_added"]],
  ["other line ends", '{"a":1,\r\n"b":2}', '{"a":1,\n"b":2}', ["body_lf"]],
  ["line ends of Unix", '{"a":1,\n"b":2}', '{"a":1,\r\n"b":2}', ["body_crlf"]],
  ["a byte order mark", `\ufeff${text}`, text, ["body_byte_order_mark"]],
  ["spaces of its own", JSON.stringify(JSON.parse(text), null, 3), text, ["body_written_again"]],
  ["Latin-1 in place of UTF-8", Buffer.from('{"a":"é"}', "latin1"), '{"a":"é"}', ["body_wrong_encoding"]],
  ["UTF-8 twice", '{"a":"Ã©"}', '{"a":"é"}', ["body_wrong_encoding"]],
])("a body with %s is recognised from both headers", (_, body, signedText, faults) => {
  const came = {
    ...headers,
    "x-ep-signature-sha256": mac(secret, signedText),
    "webhook-signature": `v1,${mac(key, `${id}.${time}.${signedText}`, "base64")}`,
  };
  const report = explain({ headers: came, body: Buffer.from(body) });
  expect(report.isGood).toBe(false);
  for (const compared of report.compared) expect(compared.faults).toEqual(faults);
});

test("a secret without its prefix is recognised from the headers", () => {
  const report = explain({ secret: bare });
  expect(report.faults).toEqual(["secret_form"]);
  expect(report.compared.map(({ isGood, faults }) => [isGood, faults])).toEqual([
    [false, ["secret_lacks_prefix"]],
    [true, []],
  ]);
});

test("another secret is told apart from every known fault", () => {
  const report = explain({ secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` });
  expect(report.compared.map(({ faults }) => faults)).toEqual([null, null]);
  expect(report.faults).toEqual([]);
});

test.each<[string, Record<string, string>, Date, string[]]>([
  ["no headers", {}, now, ["headers_missing"]],
  ["no id", { ...headers, "webhook-id": "" }, now, ["id_or_timestamp_missing"]],
  ["an old time", headers, new Date(1_770_105_901_000), ["timestamp_old"]],
  ["a time ahead", headers, new Date(1_770_105_299_000), ["timestamp_ahead"]],
  ["milliseconds", { ...headers, "webhook-timestamp": "1770105600000" }, now, ["timestamp_no_seconds"]],
  ["a date", { ...headers, "webhook-timestamp": "2026-02-03T08:00:00Z" }, now, ["timestamp_no_seconds"]],
])("%s is told", (_, came, at, faults) => {
  const isGood = /^timestamp_(old|ahead)$/.test(faults[0]!);
  expect(explain({ headers: came, now: at })).toMatchObject({ isGood, faults });
});

test("each fault has a text in both languages, and no text without a fault", () => {
  const names = [...signatureFaults, ...eventFaults].sort();
  for (const texts of Object.values(signatureFaultTexts)) expect(Object.keys(texts).sort()).toEqual(names);
});

test("the secret stands in no report", () => {
  expect(JSON.stringify(explain({ computed: "x" }))).not.toContain(bare);
});
