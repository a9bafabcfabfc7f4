// SPDX-License-Identifier: Apache-2.0
// Small pieces of the page as DOM elements. Text is always set as text, never as markup.
import type { Sentence } from "../figure";
import { text_of_value } from "../format";
import type { Quantity } from "../view";
import { reason_text } from "../view";

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A quantity as text, carrying its exact value and the expression it comes from. */
export function quantity_element(quantity: Quantity): HTMLElement {
  const made = element("span", { class: "quantity", "data-from": JSON.stringify(quantity.from), "data-unit": quantity.unit });
  if (quantity.value === null) {
    made.classList.add("missing");
    made.setAttribute("data-value", "null");
    made.title = `No value: ${reason_text(quantity.reason)}`;
    made.append("\u2013", element("span", { class: "reason" }, ` ${reason_text(quantity.reason)}`));
    return made;
  }
  made.setAttribute("data-value", String(quantity.value));
  made.append(text_of_value(quantity.value, quantity.unit));
  if (quantity.unit === "ns" || quantity.unit === "B") made.title = `${quantity.value.toLocaleString("en-US")} ${quantity.unit}`;
  if (quantity.num_missing !== undefined) {
    made.append(element("sup", { class: "partial" }, "\u2020"));
    made.title = `${quantity.num_missing} rows have no value and are not part of this`;
  }
  return made;
}

export function sentence_nodes(sentence: Sentence): Child[] {
  return sentence.map((part) => (typeof part === "string" ? part : quantity_element(part)));
}

/** The same words for screen readers and `alt` texts. */
export function sentence_text(sentence: Sentence): string {
  return sentence
    .map((part) => (typeof part === "string" ? part : part.value === null ? "(no value)" : text_of_value(part.value, part.unit)))
    .join("");
}
