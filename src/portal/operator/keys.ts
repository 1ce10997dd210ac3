import { take, type Gone, type Shown, type Visit } from "../frame/index.ts";

/** The keys that ID tokens are signed with. */
export async function showKeys(visit: Visit): Promise<Shown> {
  const keys = await take(visit.api.GET("/admin/v1/signing-keys", { params: { query: { limit: 100 } } }));
  const usableAt = keys.map((key) => key.usableAt ?? "").reduce((latest, at) => (at > latest ? at : latest), "");
  const isTooNew = usableAt !== "" && new Date(usableAt) > visit.now;
  const model = { keys, tooNewUntil: isTooNew ? usableAt : null };
  return { title: visit.t("keys.title"), view: "keys", model, page: "operator_keys" };
}

export async function rotateKeys(visit: Visit): Promise<Gone> {
  const query = visit.field("force") === "on" ? { force: true } : {};
  const params = { query, header: { "Idempotency-Key": visit.once } };
  await take(visit.api.POST("/admin/v1/signing-keys/rotation", { params }));
  return { to: "/admin/keys", done: "keysRotated" };
}
