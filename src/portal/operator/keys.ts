import { unwrap, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";

export async function showKeys(request: PageRequest): Promise<PageView> {
  const keys = await unwrap(request.api.GET("/admin/v1/signing-keys", { params: { query: { limit: 100 } } }));
  const usableAt = keys.map((key) => key.usableAt ?? "").reduce((latest, at) => (at > latest ? at : latest), "");
  const isTooNew = usableAt !== "" && new Date(usableAt) > request.now;
  const model = { keys, tooNewUntil: isTooNew ? usableAt : null };
  return { title: request.t("keys.title"), view: "keys", model, page: "operator_keys" };
}

export async function rotateKeys(request: PageRequest): Promise<Redirect> {
  const query = request.field("force") === "on" ? { force: true } : {};
  const params = { query, header: { "Idempotency-Key": request.idempotencyKey } };
  await unwrap(request.api.POST("/admin/v1/signing-keys/rotation", { params }));
  return { to: "/admin/keys", done: "keysRotated" };
}
