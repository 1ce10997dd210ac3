import { readForm, type PageRequest, type PageView } from "../frame/index.ts";
import { group, readGroup } from "./group.ts";

const lessons = [45, 60, 90, 120];

/** Whether the list of the class is open, and a form that opens it for a lesson. */
export async function showClassList(request: PageRequest): Promise<PageView> {
  const { call, find, at, t } = request;
  const [{ record }, settings, list] = await Promise.all([
    readGroup(request),
    find("getCardSettings"),
    call("getClassList"),
  ]);
  const isUsed = settings === null || (settings.enabled && settings.classLists);
  const model = { group: record, base: at(group), isUsed, endsAt: list.endsAt, lessons };
  return { title: t("classList.title"), view: "class-list", model };
}

/** Opens the list and shows the code for the board, this once. */
export async function openClassList(request: PageRequest): Promise<PageView> {
  const { call, at, t } = request;
  const body = readForm(request, "createClassList", ["minutes"]);
  const [{ record }, opened] = await Promise.all([readGroup(request), call("createClassList", { body })]);
  const address = opened.url.replace(/^https?:\/\//, "");
  const model = { ...opened, address, group: record, base: at(group) };
  return { title: t("classList.open", { name: record.name }), view: "class-code", model };
}
