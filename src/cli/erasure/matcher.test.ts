import { expect, test } from "vitest";
import { makeMatcher, type What } from "./matcher.ts";

const id = "0198c2f4-0000-7abc-8000-00000000dead";
const matcher = makeMatcher(
  {
    ids: [id],
    firstNames: ["Jörg", "Li"],
    lastNames: ["von Weißmüller-Sørensen"],
    userNames: ["j.weissmueller"],
    others: ["src:47/11"],
  },
  [],
);
const hex = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding).toString("hex");

test.each<[text: string, found: What[]]>([
  ["Jörg", ["firstName"]],
  ["(JOERG)", ["firstName"]],
  ["jorg, vorn", ["firstName"]],
  ["Jo\u0308rg", ["firstName"]],
  ["Jörgen", []],
  ["Björg", []],
  ['{"name":"\\nJ\\u00f6rg"}', ["firstName"]],
  ["q=J%C3%96RG%20x", ["firstName"]],
  ["GET /J\\xC3\\xB6rg", ["firstName"]],
  [`\\\\x${hex("Frau von Weissmueller-Sorensen")}`, ["lastName"]],
  [`\\\\x00${hex("VON WEIßMÜLLER SØRENSEN", "latin1")}`, ["lastName"]],
  ["von_weissmuller.soerensen", ["lastName"]],
  ["Weißmüller", []],
  ["to j.weissmueller@a.example", ["userName"]],
  ["J.Weissmueller.csv", ["userName"]],
  ["jj.weissmueller", []],
  ["j.weissmueller2", []],
  ["SRC%3A47%2F11", ["other"]],
  ["src:47/112", []],
  [id.toUpperCase(), ["id"]],
  [`\\\\x01${id.replaceAll("-", "")}02`, ["id"]],
  [`\\\\x${hex(`of ${id}`)}`, ["id"]],
  [`e30.${Buffer.from(`{"a":1,"sub":"${id}"}`).toString("base64url")}`, ["id"]],
  [Buffer.from(id.replaceAll("-", ""), "hex").toString("base64"), ["id"]],
  ["0198c2f4-0000-7abc-8000-00000000deae", []],
  // Two letters by chance in other bytes, and as a text.
  [`\\\\x00${hex(" Li ")}07`, []],
  [`\\\\x${hex("Li Wei")}`, ["firstName"]],
])("%s", (text, found) => {
  expect([...matcher.find(Buffer.from(text))]).toEqual(found);
});

test("a text that is no UTF-8 is read as Latin-1", () => {
  expect([...matcher.find(Buffer.from("J\xf6rg;5a", "latin1"))]).toEqual(["firstName"]);
});
