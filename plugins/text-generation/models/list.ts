import { type Json, type MemberChange, toJson } from '../../shared/json/json.ts'
import type { ModelRoute, ModelRouting, TextUpstream } from './routing.ts'

/**
 * The models of an upstream for callers: those of its own list that are routed to it, then those that only the
 * configuration names. Each is listed once, under the name or names that callers use.
 */
export const listedModels = (
  routing: ModelRouting,
  upstream: TextUpstream,
  models: readonly Json[],
): readonly Json[] => {
  const configured = new Map<string, ModelRoute>()
  for (const [name, [route]] of routing.named) if (route?.upstream === upstream) configured.set(name, route)
  const namesOf = Map.groupBy(configured.keys(), (name) => configured.get(name)?.model?.id)
  const listed = new Map<string, Json>()
  for (const model of models) {
    const id = model.get('id')?.string()
    if (id === undefined) continue
    const names = namesOf.get(id) ?? (routing.routesOf(id)[0]?.upstream === upstream ? [id] : [])
    for (const name of names)
      if (!listed.has(name)) listed.set(name, describeModel(model, name, configured.get(name) ?? { upstream }))
  }
  for (const [name, route] of configured) if (!listed.has(name)) listed.set(name, describeModel(undefined, name, route))
  return [...listed.values()]
}

/**
 * A model for callers: what the upstream says about it, under the name that callers use, and what the configuration
 * says. Returns the same object if nothing changes.
 *
 * Fields of other vendors have these names: `context_length` (OpenRouter) and `max_completion_tokens` (Groq).
 */
export const describeModel = (
  described: Json | undefined,
  name: string,
  { id, model, upstream, ...limits }: ModelRoute,
): Json => {
  const changes: MemberChange[] = []
  if (!described || id !== undefined) changes.push(['id', toJson(name)])
  const owner = model?.ownedBy ?? (described?.get('owned_by') ? undefined : upstream.name)
  if (owner !== undefined) changes.push(['owned_by', toJson(owner)])
  if (model?.contextLength !== undefined) changes.push(['context_length', toJson(model.contextLength)])
  if (limits.maxTokens !== undefined) changes.push(['max_completion_tokens', toJson(limits.maxTokens)])
  return (described ?? toJson({ id: name, object: 'model' })).edit(changes)
}
