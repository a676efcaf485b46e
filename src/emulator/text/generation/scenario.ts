import { isJson, type Json } from '../../shared/reader.ts'
import { badRequest } from '../openai-error.ts'
import type { Prompt, PromptMessage, Tool } from './prompt.ts'

/** One tool call of a scenario. */
export interface ScenarioCall {
  /** name of the tool */
  readonly call: string
  /** its namespace, for a tool of a namespace */
  readonly namespace?: string
  /**
   * the arguments of a function; a string is sent as it is, so it can be invalid JSON. `{output.NAME}` in it becomes
   * the text of the last member NAME in the results of tools, as in `input` and `say`
   */
  readonly arguments?: unknown
  /** the input of a custom tool. A function gets it as its first required argument */
  readonly input?: string
}

/** What the model answers to one request: text, tool calls, or both. */
export interface ScenarioStep extends Partial<ScenarioCall> {
  /** generated before everything else */
  readonly reason?: string
  /** `{output}` in it becomes the tool results that the request ends with */
  readonly say?: string
  /** several calls in one answer */
  readonly calls?: readonly ScenarioCall[]
}

/** The answers of the model in a conversation, one step for each request. */
export interface Scenario {
  /** a text in a user message that starts the scenario */
  readonly when: string
  readonly steps: readonly ScenarioStep[]
}

/** A tool call to make. */
export interface WantedCall {
  readonly tool: Tool
  /** its arguments or input as text */
  readonly text: string
}

/** A step, applied to the prompt of a request. */
export interface Scene {
  readonly reason: string | undefined
  readonly say: string
  readonly calls: readonly WantedCall[]
}

/** The scenarios that a test has added. */
export interface Scenarios {
  /**
   * Adds a scenario. Throws a `TypeError` with the reason for an invalid one. The newest of several that match applies.
   */
  add(scenario: Scenario): void
  list(): readonly Scenario[]
  clear(): void
}

/** Creates an empty list of scenarios. */
export const createScenarios = (): Scenarios => {
  const added: Scenario[] = []
  return {
    add(scenario) {
      if (!isJson(scenario) || typeof scenario.when !== 'string' || scenario.when === '')
        throw new TypeError('a scenario needs when: a text')
      const problem = problemOf(scenario.steps)
      if (problem !== undefined) throw new TypeError(problem)
      added.push(scenario)
    },
    list: () => added,
    clear: () => void added.splice(0),
  }
}

/**
 * The step of the scenario for this request; undefined when the conversation has none, or when it has ended.
 *
 * A scenario starts at the last user message that contains it, as `<scenario>[…]</scenario>` or by the text of one that
 * a test has added. The number of answers after that message is the number of the step, so the model needs no memory.
 */
export const sceneOf = (prompt: Prompt, scenarios: readonly Scenario[]): Scene | undefined => {
  const { turns } = prompt
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at]
    const steps = turn?.role === 'user' ? stepsFor(turn.text, scenarios) : undefined
    const step = steps?.[answersIn(turns.slice(at + 1))]
    if (steps !== undefined) return step && applied(step, prompt)
  }
  return undefined
}

const stepsFor = (text: string, scenarios: readonly Scenario[]): readonly ScenarioStep[] | undefined => {
  const written = text.match(/<scenario>([\s\S]*?)<\/scenario>/)?.[1]
  if (written === undefined) return scenarios.findLast(({ when }) => text.includes(when))?.steps
  const steps = parsed(written)
  const problem = problemOf(steps)
  if (problem !== undefined) throw badRequest('scenario', 'invalid_value', `Invalid 'scenario': ${problem}.`)
  return steps as readonly ScenarioStep[]
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Consecutive assistant turns are one answer: a text and its tool calls. */
const answersIn = (turns: readonly PromptMessage[]): number =>
  turns.filter(({ role }, index) => role === 'assistant' && turns[index - 1]?.role !== 'assistant').length

const applied = (step: ScenarioStep, prompt: Prompt): Scene => {
  const { reason, say = '' } = step
  const calls = prompt.choice === 'none' ? [] : callsIn(step).slice(0, prompt.parallel ? undefined : 1)
  const wanted = calls.map((call) => ({ call, tool: toolFor(call, prompt.tools) }))
  const missing = wanted.find(({ tool }) => tool === undefined)
  // an agent that does not offer the tool, or a request for a title without tools
  if (missing !== undefined) return { reason, say: missingTool(missing.call, prompt.tools), calls: [] }
  const text = say.replaceAll('{output}', () => outputsIn(prompt.turns))
  return {
    ...{ reason, say: withMembers(text, prompt.turns) },
    calls: wanted.flatMap(({ call, tool }) =>
      tool ? { tool, text: withMembers(inputOf(call, tool), prompt.turns) } : [],
    ),
  }
}

const callsIn = ({ calls = [], call, ...fields }: ScenarioStep): readonly ScenarioCall[] =>
  call === undefined ? calls : [{ ...fields, call }, ...calls]

/** The tool with this name. A gateway that has no namespaces upstream joins both names: that tool counts too. */
const toolFor = ({ call, namespace }: ScenarioCall, tools: readonly Tool[]): Tool | undefined =>
  tools.find((tool) => tool.name === call && tool.namespace === namespace) ??
  tools.find(({ name }) => name.startsWith(namespace ?? '\n') && name.endsWith(call))

const missingTool = ({ call, namespace }: ScenarioCall, tools: readonly Tool[]): string => {
  const names = tools.map(({ namespace, name }) => (namespace === undefined ? name : `${namespace}.${name}`))
  const wanted = namespace === undefined ? call : `${namespace}.${call}`
  return `I have no tool ${wanted}, only: ${names.join(', ') || 'none'}.`
}

const inputOf = ({ arguments: given, input }: ScenarioCall, { kind, schema }: Tool): string => {
  if (kind === 'custom') return input ?? (typeof given === 'string' ? given : JSON.stringify(given ?? ''))
  if (typeof given === 'string') return given
  const [first = 'input'] = Array.isArray(schema.required) ? schema.required.map(String) : []
  return JSON.stringify(input === undefined ? (given ?? {}) : { [first]: input })
}

const outputsIn = (turns: readonly PromptMessage[]): string =>
  turns
    .slice(turns.findLastIndex(({ role }) => role !== 'tool') + 1)
    .map(({ text }) => text)
    .join('\n')

/** Replaces `{output.NAME}`. A name that no result has stays. */
const withMembers = (text: string, turns: readonly PromptMessage[]): string =>
  text.replaceAll(/\{output\.(\w+)\}/g, (unknown, name: string) => {
    const results = turns.flatMap(({ role, text }) => (role === 'tool' ? unescaped(text) : []))
    const member = new RegExp(`"${name}":\\s*"([^"\\\\]*)"`, 'g')
    return results.flatMap((result) => [...result.matchAll(member)]).at(-1)?.[1] ?? unknown
  })

/** An agent may show JSON inside of JSON. */
const unescaped = (text: string): string => text.replaceAll(/\\+"/g, '"')

const stepFields = ['reason', 'say', 'call', 'namespace', 'arguments', 'input', 'calls']

/** What is wrong with the steps of a scenario. */
const problemOf = (steps: unknown): string | undefined => {
  if (!Array.isArray(steps) || steps.length === 0) return 'steps must be a JSON array of one or more objects'
  return steps.map((step, index) => stepProblem(step, `steps[${index}]`)).find((problem) => problem !== undefined)
}

const stepProblem = (step: unknown, at: string): string | undefined => {
  if (!isJson(step)) return `${at} must be an object`
  const unknown = Object.keys(step).find((name) => !stepFields.includes(name))
  if (unknown !== undefined) return `${at} has no field ${unknown}`
  const calls = step.calls ?? []
  if (!Array.isArray(calls) || !calls.every((call) => isJson(call) && typeof call.call === 'string'))
    return `${at}.calls must be an array of objects with call: the name of a tool`
  const text = textFields.find((name) => step[name] !== undefined && typeof step[name] !== 'string')
  if (text !== undefined) return `${at}.${text} must be a text`
  return hasContent(step, calls) ? undefined : `${at} needs say, call or calls`
}

const textFields = ['reason', 'say', 'call', 'namespace', 'input']

const hasContent = ({ say, call }: Json, calls: readonly unknown[]): boolean =>
  say !== undefined || call !== undefined || calls.length > 0
