import type { Changes } from './changes.ts'
import { objectPieces, type Piece } from './pieces.ts'
import { ComposedJson, type Json } from './value.ts'

/** An object of known members. It becomes a text when it is sent, or asked for anything but its members. */
export class ComposedObject extends ComposedJson {
  readonly #members: ReadonlyMap<string, Json>

  constructor(members: ReadonlyMap<string, Json>) {
    super()
    this.#members = members
  }

  override get isObject(): boolean {
    return true
  }

  override get(key: string): Json | undefined {
    return this.#members.get(key)
  }

  override all(key: string): readonly Json[] {
    const value = this.#members.get(key)
    return value ? [value] : []
  }

  override keys(): readonly string[] {
    return [...this.#members.keys()]
  }

  override valuesOf(wanted: Changes<Json>): Map<string, readonly Json[]> {
    return new Map([...this.#members].flatMap(([key, value]) => (wanted.has(key) ? [[key, [value]]] : [])))
  }

  protected override edited(wanted: Changes<Json>): Json {
    const members = new Map(this.#members)
    for (const [key, value] of wanted) {
      if (value) members.set(key, value)
      else members.delete(key)
    }
    return new ComposedObject(members)
  }

  protected override compose(): readonly Piece[] {
    return objectPieces(this.#members)
  }
}
