/** Reports a parameter or body that shows no example, its own or its schema's. */
export default function hasExample(item) {
  if (!item || typeof item !== "object") return;
  const shown =
    "example" in item || Object.keys(item.examples ?? {}).length > 0 || (item.schema && "example" in item.schema);
  if (!shown) return [{ message: "An example is missing." }];
}
