import { AppError } from "../platform/errors.ts";
import { bodyOf } from "./admin-api.ts";
import type { Service } from "./command.ts";
import { withOwnId, type Extensions, type Request } from "./contract-commands.ts";

type Member = { groupId: string; personId: string };

async function roleIn({ api }: Service, { groupId, personId }: Member): Promise<string | undefined> {
  await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } }));
  const person = await bodyOf(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } }));
  return person.groups.find(({ id }) => id === groupId)?.role;
}

const memberOf = ({ path }: Request) => path as Member;

export const extensions: Extensions = {
  add: {
    send: async (service, request) => {
      if ((await roleIn(service, memberOf(request))) === undefined) return undefined;
      throw new AppError("conflict", "membership_exists", "The person is in the group already.");
    },
  },
  "set-role": {
    send: async (service, request) => {
      const [path, before] = [memberOf(request), await roleIn(service, memberOf(request))];
      if (before === undefined)
        throw new AppError("not_found", "membership_not_found", "The person is not in the group.");
      const isChanged = before !== request.body["role"];
      if (isChanged)
        await service.api.PUT("/admin/v1/groups/{groupId}/members/{personId}", {
          params: { path },
          body: request.body,
        });
      return { isChanged };
    },
  },
};

export const groupExtensions: Extensions = {
  create: withOwnId(async () => (await import("./local/own-ids.ts")).createGroupWithId),
};
