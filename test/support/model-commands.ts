import type fc from "fast-check";

/**
 * Makes the commands of a model, which a failure lists by name and values.
 *
 * Shape: `check` is what holds after each of them.
 */
export const makeCommands =
  <Model extends object, World>(check: (model: Model, world: World) => Promise<void>) =>
  (
    name: string,
    given: readonly unknown[],
    run: (model: Model, world: World) => Promise<unknown>,
  ): fc.AsyncCommand<Model, World> => ({
    check: () => true,
    toString: () => `${name}(${given.map((value) => JSON.stringify(value)).join(", ")})`,
    async run(model, world) {
      await run(model, world);
      await check(model, world);
    },
  });
