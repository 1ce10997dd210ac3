import { beforeAll } from "vitest";
import type { NewApp } from "../../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { type Make, makeMakers } from "../../support/make.ts";
import { makeTestClock, startService, type TestService } from "../../support/service.ts";
import { giveLogin, type Login, type TestApp } from "../../support/token.ts";

/** A school with one pupil who has a login. */
export type World = {
  service: TestService;
  make: Make;
  school: SchoolId;
  pupil: PersonId;
  login: Login;
  /** An app that everybody of the school may sign in to. */
  app(wishes?: Partial<NewApp>): Promise<TestApp>;
};

/** Starts the service once for a test file. */
export function startWorld(env: Record<string, string> = {}, clock = makeTestClock()): World {
  const world = {} as World;
  beforeAll(async () => void Object.assign(world, await makeWorld(env, clock)));
  return world;
}

/** Starts a service with a database of its own. */
export async function makeWorld(env: Record<string, string> = {}, clock = makeTestClock()): Promise<World> {
  const service = await startService({ env, clock });
  const make = makeMakers(service.db);
  const school = await make.school();
  const pupil = await make.person({ school });
  const login = await giveLogin(service.db, pupil);
  const app = async (wishes: Partial<NewApp> = {}) => {
    const made = await make.app(wishes);
    await make.grant({ app: made.clientId, school });
    return made;
  };
  return { service, make, school, pupil, login, app };
}
