import { expect, test } from "vitest";
import { countedAddress, countedSite, makeKeyMaker } from "./known-devices.ts";

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", ""],
])("the address %j counts as %j", (address, counted) => {
  expect(countedAddress(address)).toBe(counted);
});

test("parts cannot be moved from one to the next", () => {
  const makeKey = makeKeyMaker(Buffer.alloc(32));
  expect(makeKey("place", "ab", "c")).not.toEqual(makeKey("place", "a", "bc"));
});

test.each([
  ["203.0.113.9", null],
  ["::ffff:203.0.113.9", null],
  ["2001:DB8:0001:2::9", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0::/48"],
])("the address %j is of the site %j", (address, site) => {
  expect(countedSite(address)).toBe(site);
});
