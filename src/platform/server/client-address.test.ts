import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { makeReadAddress, readAddress } from "./client-address.ts";

const spellings: Record<string, string | null> = {
  "203.0.113.71": "203.0.113.71",
  "203.0.113.71:50000": "203.0.113.71",
  "203.0.113.71:": "203.0.113.71",
  '"203.0.113.71:50000"': "203.0.113.71",
  "\t203.0.113.71 ": "203.0.113.71",
  "[203.0.113.71]:50000": "203.0.113.71",
  "::ffff:203.0.113.71": "203.0.113.71",
  "::FFFF:203.0.113.71": "203.0.113.71",
  "::ffff:cb00:7147": "203.0.113.71",
  "0:0:0:0:0:ffff:203.0.113.71": "203.0.113.71",
  "::ffff:203.0.113.71:50000": "203.0.113.71",
  "[::ffff:203.0.113.71]:50000": "203.0.113.71",
  "2001:db8::71": "2001:db8::71",
  "2001:DB8:0:0::0071": "2001:db8::71",
  "[2001:db8::71]": "2001:db8::71",
  "[2001:db8::71]:50000": "2001:db8::71",
  '"[2001:db8::71]:50000"': "2001:db8::71",
  '"[2001:db8::71]:_port"': "2001:db8::71",
  "2001:db8::71:50000": "2001:db8::71",
  "2001:db8:0:0:0:0:0:71:8080": "2001:db8::71",
  "fe80::1%eth0": "fe80::1",
  "[fe80::1%eth0]:443": "fe80::1",
  "[fe80::1%25eth0]:443": "fe80::1",
  "": null,
  unknown: null,
  "unknown:50000": null,
  _hidden: null,
  "for=203.0.113.71": null,
  "203.0.113": null,
  "203.0.113.710": null,
  "0x7f.1": null,
  "0177.0.0.1": null,
  "2130706433": null,
  "2001:db8::71::": null,
  "[2001:db8::71": null,
  "203.0.113.71:99999999": null,
  "203.0.113.71:50000:50000": null,
  "school.example": null,
  "203.0.113.71 198.51.100.1": null,
};

test("an address is read in each spelling of it, and nothing else is one", () => {
  expect(Object.fromEntries(Object.keys(spellings).map((text) => [text, readAddress(text)]))).toEqual(spellings);
});

test("behind trusted proxies it is the last address that no proxy has", () => {
  const read = makeReadAddress(["10.0.0.0/8", "2001:db8:1::/48"]);
  const rows: [socket: string | undefined, forwarded: string | undefined, address: string][] = [
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["::ffff:10.0.0.1", "203.0.113.71:50000", "203.0.113.71"],
    ["10.0.0.1", "198.51.100.1, 203.0.113.71:50000", "203.0.113.71"],
    ["10.0.0.1", "203.0.113.71:50000, 10.0.0.2:4000, [2001:db8:1::3]:4000", "203.0.113.71"],
    ["10.0.0.1", "203.0.113.71, unknown, 10.0.0.2:4000", "10.0.0.2"],
    ["10.0.0.1", "unknown", "10.0.0.1"],
    ["10.0.0.1", "_hidden:50000", "10.0.0.1"],
    ["10.0.0.1", ",,", "10.0.0.1"],
    ["192.0.2.9", "203.0.113.71:50000", "192.0.2.9"],
    ["::ffff:192.0.2.9", "203.0.113.71", "192.0.2.9"],
    [undefined, "203.0.113.71", ""],
  ];
  const addressOf = (remoteAddress: string | undefined, forwarded: string | undefined) =>
    read({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } } as unknown as IncomingMessage);
  expect(rows.map(([socket, forwarded]) => [socket, forwarded, addressOf(socket, forwarded)])).toEqual(rows);
});
