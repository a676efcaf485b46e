import type { Static, TObject } from '@sinclair/typebox'
import type { Clock } from '../shared/clock.ts'
import type { Identity } from '../shared/identity/identify.ts'
import type { Scope } from '../shared/identity/scopes.ts'
import type { CallerApi } from './api.ts'

/** A tool that clients list and call. */
export interface McpTool {
  readonly name: string
  readonly title: string
  /** For the model that decides what to call. */
  readonly description: string
  /** The scope of its routes. A token needs it, or `read` for a tool that only reads. */
  readonly scope: Extract<Scope, 'media' | 'video'>
  readonly onlyReads: boolean
  readonly input: TObject
  /** @param input valid by the schema. Throws `ApiError` where a route refuses, and `ConfirmationNeeded` */
  run(input: never, call: ToolCall): Promise<object>
}

/** What a tool gets beside its input. */
export interface ToolCall {
  readonly api: CallerApi
  readonly user: string
  /** The headers of the caller's request, with the credential. */
  readonly headers: Headers
  readonly clock: Clock
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal
  /** The confirmation that a person has given in a dialog of the client. Undefined: none was asked. */
  readonly confirmed: string | undefined
  /** Tells the client that the tool still works, if it asked to be told. */
  progress(seconds: number, message: string): Promise<void>
}

/** Declares a tool whose function gets the type of its schema. */
export const defineTool = <Input extends TObject>(
  tool: Omit<McpTool, 'input' | 'run'> & {
    readonly input: Input
    run(input: Static<Input>, call: ToolCall): Promise<object>
  },
): McpTool => tool

/** Whether the credential of a caller may use a tool: the routes would reject it otherwise. */
export const permitsTool = ({ scopes }: Identity, { scope, onlyReads }: McpTool): boolean =>
  scopes === undefined || scopes.includes(scope) || (onlyReads && scopes.includes('read'))

/** A creation that a person must confirm first. */
export class ConfirmationNeeded extends Error {
  /** Proves that the price was said, for the same request. */
  readonly confirmation: string
  /** What the person should know. */
  readonly details: object

  constructor(question: string, confirmation: string, details: object) {
    super(question)
    this.name = 'ConfirmationNeeded'
    this.confirmation = confirmation
    this.details = details
  }
}

/** The input of a tool is wrong in a way that its schema does not say. */
export class InputError extends Error {}
