import type { AdminSchemas } from "../../admin/index.ts";
import { take, takeIfThere, takePage, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, pathOf } from "./record.ts";
import { nameOf } from "./words.ts";

const mostMembers = 1000;

/** The name of the person: of a class teacher's pupil, as it stands among the members of the class. */
async function findName(visit: Visit): Promise<string> {
  const { api, field, part } = visit;
  if (visit.may("getPerson")) {
    const person = await takeIfThere(api.GET("/admin/v1/people/{personId}", { params: { path: pathOf(visit) } }));
    return person === null ? "" : nameOf(person, visit);
  }
  const params = { path: { groupId: field("class") }, query: { limit: mostMembers } };
  const { items } = await takePage(api.GET("/admin/v1/groups/{groupId}/members", { params }));
  const member = items.find(({ id }) => id === part("personId"));
  return member === undefined ? "" : nameOf(member, visit);
}

/** The one page on which a new password stands. */
async function showPassword(visit: Visit, secret: AdminSchemas["LoginSecret"]): Promise<Shown> {
  const { t, part, field } = visit;
  const [schoolId, group] = [part("schoolId"), field("class")];
  const back = group === "" ? addressOf(visit) : `/admin/schools/${schoolId}/classes/${encodeURIComponent(group)}`;
  const model = { secret, fullName: await findName(visit), back };
  return {
    title: t("password.title"),
    view: "password",
    model,
    page: group === "" ? "people" : "classes",
  };
}

export async function givePassword(visit: Visit): Promise<Shown> {
  const { api, once } = visit;
  const params = { path: pathOf(visit), header: { "Idempotency-Key": once } };
  return showPassword(visit, await take(api.POST("/admin/v1/people/{personId}/login/password", { params })));
}

/** Gives a user name, and a password with it. */
export async function setLogin(visit: Visit): Promise<Shown> {
  const { api, field } = visit;
  const body = { username: field("username") };
  const params = { path: pathOf(visit) };
  return showPassword(visit, await take(api.PUT("/admin/v1/people/{personId}/login", { params, body })));
}
