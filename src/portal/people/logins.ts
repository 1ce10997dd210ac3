import type { AdminSchemas } from "../../admin/index.ts";
import { nameOf, unwrap, unwrapIfFound, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { addressOf } from "./record.ts";

const mostMembers = 1000;

/** The person's name; a class teacher reads it from the members of the class. */
async function findName(request: PageRequest): Promise<string> {
  const { api, path, field } = request;
  if (request.may("getPerson")) {
    const person = await unwrapIfFound(api.GET("/admin/v1/people/{personId}", { params: { path } }));
    return person === null ? "" : nameOf(person, request);
  }
  const params = { path: { groupId: field("class") }, query: { limit: mostMembers } };
  const { items } = await unwrapPage(api.GET("/admin/v1/groups/{groupId}/members", { params }));
  const member = items.find(({ id }) => id === path.personId);
  return member === undefined ? "" : nameOf(member, request);
}

async function showPassword(request: PageRequest, secret: AdminSchemas["LoginSecret"]): Promise<PageView> {
  const { t, param, field } = request;
  const [schoolId, group] = [param("schoolId"), field("class")];
  const back = group === "" ? addressOf(request) : `/admin/schools/${schoolId}/classes/${encodeURIComponent(group)}`;
  const model = { secret, fullName: await findName(request), back };
  return {
    title: t("words.newPassword"),
    view: "password",
    model,
    page: group === "" ? "people" : "classes",
  };
}

export async function givePassword(request: PageRequest): Promise<PageView> {
  const { api, path, idempotencyKey } = request;
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  return showPassword(request, await unwrap(api.POST("/admin/v1/people/{personId}/login/password", { params })));
}

export async function setLogin(request: PageRequest): Promise<PageView> {
  const { api, path, field } = request;
  const body = { username: field("username") };
  return showPassword(request, await unwrap(api.PUT("/admin/v1/people/{personId}/login", { params: { path }, body })));
}
