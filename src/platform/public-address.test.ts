import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

test.each([
  "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
  "::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "fd00::1", "64:ff9b::a00:1", "2002:7f00:1::", "localhost", "",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(["8.8.8.8", "193.99.144.80", "2a02:2e0:3fe:1001:302::"])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});
