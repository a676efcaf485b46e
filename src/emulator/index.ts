import { createAccount } from './account.ts'
import type { EmulatorAction } from './action-names.ts'
import { restPath } from './api/rest.ts'
import { type Call, maxCallsPerSecond } from './calls.ts'
import type { Decision, FaceSession } from './face/sessions.ts'
import type { FaultHandle, Faults, FaultTiming } from './faults/faults.ts'
import type { Library } from './library/library.ts'
import { type EmulatorOptions, settingsOf } from './options.ts'
import { startServer } from './server.ts'
import type { Script } from './text/faults/faults.ts'
import type { Scenarios } from './text/generation/scenario.ts'
import type { StoredObjects } from './text/objects/objects.ts'
import { chatOnlyPath, textPath } from './text/routes.ts'
import { videoPath } from './video/routes.ts'
import { type VideoTasks, videoTasksOf } from './video/service.ts'

export type { AssetAction, EmulatorAction, TextAction, VideoAction } from './action-names.ts'
export { documentedLimits, type RateLimits } from './call-limits.ts'
export type { Call } from './calls.ts'
export type { FaceOptions } from './face/options.ts'
export type { Decision, FaceSession } from './face/sessions.ts'
export type { Fault, FaultHandle, FaultKind, Faults, FaultTiming } from './faults/faults.ts'
export { hostileHeaders } from './faults/hostile-headers.ts'
export type { LeakForm, LeakLocation } from './faults/leak.ts'
export type { Library, NewAsset, NewGroup } from './library/library.ts'
export { type Outcome, outcomeByUrl } from './library/processing-outcome.ts'
export type { Asset, AssetStatus, AssetType, Group, GroupType } from './library/records.ts'
export type { EmulatorOptions } from './options.ts'
export type { TimeFormat } from './shared/times.ts'
export type { TextModel } from './text/catalogue.ts'
export type { Script, ScriptChunk, TextFaultKind } from './text/faults/faults.ts'
export type { Scenario, ScenarioCall, ScenarioStep, Scenarios } from './text/generation/scenario.ts'
export type { StoredObject, StoredObjects, TestObjectKind } from './text/objects/objects.ts'
export type { TextOptions } from './text/options.ts'
export type { VideoCallback } from './video/callbacks.ts'
export type { VideoFaultKind } from './video/faults.ts'
export type { VideoEndpoint, VideoModel } from './video/models.ts'
export type { VideoOptions } from './video/options.ts'
export type { RateLimitKind } from './video/rate-limits.ts'
export type { PresetAsset } from './video/request/content.ts'
export type { VideoRequest } from './video/request/task-request.ts'
export type { VideoTasks } from './video/service.ts'
export { outcomeByPrompt, type VideoOutcome, type VideoStatus, type VideoTask } from './video/tasks/task.ts'

/**
 * A running emulator: one account behind the `rest` and `ark` asset APIs, text generation (Chat Completions and
 * Responses), and video generation.
 *
 * `await using emulator = await startEmulator()` stops it at the end of the block.
 */
export interface Emulator extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; the HTTP control API for other languages is below `/_emulator/` */
  readonly origin: string
  /** the `rest` API: base URL, which ends with `/api/media/proxy`, and bearer key */
  readonly rest: { readonly url: string; readonly key: string }
  /** the `ark` API: base URL, credentials, and the default project of the account */
  readonly ark: {
    readonly url: string
    readonly accessKey: string
    readonly secretKey: string
    readonly region: string
    readonly project: string
  }
  /** text generation: base URL, which ends with `/v1`, and bearer key */
  readonly text: {
    readonly url: string
    readonly key: string
    /** the same models at a server that knows chat completions only: its base URL. It has the same key */
    readonly chatOnlyUrl: string
    /**
     * Responds to the next call that generates (or to those that `timing` selects) with exactly these bytes. A function
     * receives the recorded call and returns the script. Adds a fault of kind `script`.
     */
    respondWith(script: Script | ((call: Call) => Script), timing?: FaultTiming): FaultHandle
    /** the scenarios: what the model answers in a conversation of an agent, step by step */
    readonly scenarios: Scenarios
    /** the stored objects of the account: responses, conversations, items, files, prompts and others */
    readonly objects: StoredObjects
  }
  /** video generation: base URL, which ends with `/api/v3`, bearer key, and the tasks without the API */
  readonly video: VideoTasks & { readonly url: string; readonly key: string }
  /** face verification without a browser. The test itself must request the callback URL, as a browser would */
  readonly face: {
    /** all sessions since the start, of both APIs, oldest first */
    sessions(): FaceSession[]
    /**
     * Finishes a session as the user would. Returns the URL of the redirect; undefined after `close`, and for a session
     * that has already ended or expired, which does not change. Throws for an unknown token.
     */
    finish(bytedToken: string, decision: Decision): string | undefined
  }
  /** all requests since the start or the last `clearCalls`, in order of arrival; grows without limit */
  readonly calls: readonly Call[]
  /** the fault registry; faults can be added and removed at any time */
  readonly faults: Faults
  /** direct access to the groups and assets of the account, without the API */
  readonly library: Library
  /**
   * highest number of calls of an action in any window of one second of the emulator's clock, including rejected calls;
   * 0 without calls
   */
  maxCallsPerSecond(action: EmulatorAction): number
  /** deletes the recorded calls; their effects stay */
  clearCalls(): void
  /** closes the port and all connections, including stalled ones; waiting calls end without effect */
  stop(): Promise<void>
}

/**
 * Starts an emulator of the upstreams: the media asset API, text generation and video generation. Rejects for an
 * invalid option or a port in use.
 *
 * The asset API follows Ark's rules: signatures, fuzzy name filter, exclusive paging modes, paging depth limit, rate
 * limits (if asked for), asynchronous processing, and face verification with its page for browsers.
 *
 * @example
 * const emulator = await startEmulator({ processingMs: 0 })
 * const kind = rest(emulator.rest)
 */
export const startEmulator = async (options: EmulatorOptions = {}): Promise<Emulator> => {
  const settings = settingsOf(options)
  let origin = ''
  const account = createAccount(settings, () => origin)
  const { calls, faults, stop, ...served } = await startServer(account)
  origin = served.origin
  const { accessKey, secretKey, region, project } = settings
  return {
    origin,
    rest: { url: `${origin}${restPath}`, key: settings.key },
    ark: { url: origin, accessKey, secretKey, region, project },
    text: {
      url: `${origin}${textPath}`,
      key: settings.text.key,
      chatOnlyUrl: `${origin}${chatOnlyPath}`,
      objects: account.objects.stored,
      scenarios: account.scenarios,
      respondWith: (script, timing) => faults.add({ ...timing, kind: 'script', script }),
    },
    video: { url: `${origin}${videoPath}`, key: settings.video.key, ...videoTasksOf(account.video, account.library) },
    face: {
      sessions: account.faces.sessions.list,
      finish(bytedToken, decision) {
        const finish = account.faces.sessions.finish(bytedToken, decision)
        if (finish.outcome === 'unknown') throw new Error(`there is no face session ${bytedToken}`)
        return finish.outcome === 'callback' ? finish.url : undefined
      },
    },
    calls,
    faults,
    library: account.library,
    maxCallsPerSecond: (action) => maxCallsPerSecond(calls, action),
    clearCalls: () => {
      calls.length = 0
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
