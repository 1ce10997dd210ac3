import { bodyOf, once, type Remote } from "./remote.ts";

/** Answers the keys that sign now. */
export async function rotateSigningKeys({ api }: Remote): Promise<{ algorithm: string; kid: string }[]> {
  const keys = await bodyOf(api.POST("/admin/v1/signing-keys/rotation", { params: once() }));
  return keys.filter(({ state }) => state === "ACTIVE").map(({ algorithm, kid }) => ({ algorithm, kid }));
}
