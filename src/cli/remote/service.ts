import { bodyOf, given, once, type Remote } from "../admin-api.ts";

/** Answers the keys that sign now. */
export async function rotateSigningKeys(
  { api }: Remote,
  force: boolean,
): Promise<{ algorithm: string; kid: string }[]> {
  const params = { ...once(), query: given({ force: force || undefined }) };
  const keys = await bodyOf(api.POST("/admin/v1/signing-keys/rotation", { params }));
  return keys.filter(({ state }) => state === "ACTIVE").map(({ algorithm, kid }) => ({ algorithm, kid }));
}
