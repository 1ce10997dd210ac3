// Sign-ons beside an app that reads whole lists without a pause, against the same service without those readers.
import { Agent, request } from "undici";
import { getAppToken } from "../test/support/token.ts";
import { measureSignOnsBeside } from "./beside/sign-ons.ts";

const greedy = 20;

await measureSignOnsBeside({
  title: `${String(greedy)} greedy readers of one app`,
  async prepare({ service, make, school, groups }) {
    const reader = await make.app();
    await make.grant({ app: reader.clientId, school, groups });
    const authorization = `Bearer ${await getAppToken(service, reader, ["people:read"])}`;
    const agent = new Agent({ connections: greedy });
    let [lists, refused] = [0, 0];
    const read = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        const { statusCode, body } = await request(`${service.url}/idm/schulconnex/v1/personen-info`, {
          dispatcher: agent,
          headers: { authorization },
        });
        await body.dump({ limit: Number.MAX_SAFE_INTEGER });
        if (statusCode === 200) lists++;
        else refused++;
      }
    };
    return {
      run: async (signal) => void (await Promise.all(Array.from({ length: greedy }, () => read(signal)))),
      summary: () => `lists of the people read meanwhile: ${String(lists)}; refused: ${String(refused)}`,
      close: () => agent.close(),
    };
  },
});
