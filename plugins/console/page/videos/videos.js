import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ApiError, isAbort, messageOf } from '../api/api-error.js'
import { openBrowserStore } from '../api/browser-store.js'
import { useEvents } from '../api/events.js'
import { createIdempotencyKeys } from '../api/idempotency-keys.js'
import { paths } from '../api/paths.js'
import { showToast } from '../controls/toast.js'
import { useApi, usePolling } from '../frame/hooks.js'
import { t } from '../words/words.js'
import { emptyPlan, requestOf } from './video-request.js'
import { createTask, hasEnded, listTasks, readTask, removeTask, withTask } from './video-task.js'

/** @typedef {import('./video-task.js').Task} Task */
/** @typedef {import('./video-request.js').Plan} Plan */
/** @typedef {ReturnType<typeof useVideos>} Videos */
/** @typedef {{ status: string, tier: string }} Filter */

const pageSize = 20
const pollMs = 4_000
/** While events arrive, polling only finds what an event has not told: places in the queue. */
const livePollMs = 15_000
/** Tasks that one poll asks for in one request. */
const maxTasksPerPoll = 50
/** Queued tasks whose place one poll reads. */
const maxPlacesPerPoll = 8

/** Tasks whose prompt and files this browser remembers. */
const maxPlans = 500

/**
 * The user's video tasks, and the form of the next one. Tasks are watched on every screen until they have ended.
 * @param {{ shown: boolean, user: string }} options `shown`: whether a screen shows them, so that tasks of other clients
 * must appear too; `user`: the id
 */
export const useVideos = ({ shown, user }) => {
  const api = useApi()
  const [tasks, setTasks] = useState(/** @type {readonly Task[]} */ ([]))
  const [state, setState] = useState(/** @type {{ total?: number, error?: string, busy: boolean }} */ ({ busy: false }))
  const [filter, setFilter] = useState(/** @type {Filter} */ ({ status: '', tier: '' }))
  const [plan, setPlan] = useState(/** @type {Plan} */ (emptyPlan))
  /** What was entered for the tasks that were created in this browser. The server does not return it. */
  const [plans, setPlans] = useState(/** @type {ReadonlyMap<string, Plan>} */ (new Map()))
  const kept = useMemo(
    () => /** @type {ReturnType<typeof openBrowserStore<Plan>>} */ (openBrowserStore('videos', user, maxPlans)),
    [user],
  )
  useEffect(() => {
    // A task may have been created meanwhile.
    void kept
      .all()
      .then((entries) =>
        setPlans(
          (before) => new Map([...entries.map(({ id, value }) => /** @type {const} */ ([id, value])), ...before]),
        ),
      )
  }, [kept])
  const request = useRef(new AbortController())
  /** Tasks that were read or created while a list was loading: its response may be older. */
  const newer = useRef(/** @type {Map<string, Task>} */ (new Map()))
  const keys = useRef(createIdempotencyKeys()).current

  /** @param {Task} task */
  const upsert = (task) => {
    newer.current.set(task.id, task)
    setTasks((before) => {
      const known = before.find(({ id }) => id === task.id)
      if (known && !hasEnded(known) && hasEnded(task)) announce(task)
      return withTask(before, task)
    })
  }
  const forget = (/** @type {string} */ id) => {
    newer.current.delete(id)
    setTasks((before) => before.filter((task) => task.id !== id))
  }

  /** Reads a task again, and returns it. @param {string} id */
  const refresh = async (id) => {
    try {
      const task = await readTask(api, id)
      upsert(task)
      return task
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) forget(id)
      throw error
    }
  }

  /** Loads the first page, or the one after `before`. @param {Filter} filter @param {readonly Task[]} before */
  const load = async ({ status, tier }, before = []) => {
    if (!paths.video) return
    request.current.abort()
    const controller = new AbortController()
    request.current = controller
    newer.current = new Map()
    setState(({ total }) => ({ total, busy: true }))
    const page = Math.floor(before.length / pageSize) + 1
    const query = {
      page_num: String(page),
      page_size: String(pageSize),
      'filter.status': status,
      'filter.service_tier': tier,
    }
    try {
      const { items, total } = await listTasks(api, query, controller.signal)
      if (controller.signal.aborted) return
      const known = new Set(before.map(({ id }) => id))
      const listed = [...before, ...items.filter(({ id }) => !known.has(id))]
      setTasks([...newer.current.values()].reduce(withTask, listed))
      await readPlaces(items).catch(() => {})
      if (!controller.signal.aborted) setState({ total, busy: false })
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) return
      setState(({ total }) => ({ total, error: messageOf(error), busy: false }))
    }
  }

  /** A list has no places in the queue. @param {readonly Task[]} some */
  const readPlaces = (some) => {
    const queued = some.filter(({ status }) => status === 'queued').slice(0, maxPlacesPerPoll)
    return Promise.all(queued.map(({ id }) => refresh(id)))
  }

  const active = tasks.filter((task) => !hasEnded(task))
  const poll = async () => {
    const tiers = Map.groupBy(active.slice(0, maxTasksPerPoll), ({ service_tier: tier = 'default' }) => tier)
    for (const [tier, some] of tiers) {
      const ids = some.map(({ id }) => id)
      const query = { 'filter.task_ids': ids, 'filter.service_tier': tier, page_size: String(maxTasksPerPoll) }
      const { items } = await listTasks(api, query)
      for (const task of items) if (task.status !== 'queued') upsert(task)
      const listed = new Set(items.map(({ id }) => id))
      for (const id of ids) if (!listed.has(id)) forget(id)
    }
    await readPlaces(active)
  }
  const onEvent = (/** @type {string} */ type, /** @type {string | undefined} */ id) => {
    if (!type.startsWith('video.') || !id) return
    if (type === 'video.deleted') forget(id)
    // A page of a filtered list shows what matched when it was loaded.
    else if (tasks.some((task) => task.id === id) || (filter.status === '' && filter.tier === ''))
      refresh(id).catch(() => {})
  }
  const live = useEvents(onEvent, shown || active.length > 0)
  // What happened before the stream was open.
  useEffect(() => {
    if (live && active.length > 0) poll().catch(() => {})
  }, [live])
  usePolling(poll, { enabled: active.length > 0, ms: live ? livePollMs : pollMs })

  return {
    ...state,
    tasks,
    filter,
    plan,
    /** @param {Partial<Plan>} changes */
    change: (changes) => setPlan((before) => ({ ...before, ...changes })),
    /** Chooses a model, unless the user has. @param {string} model */
    suggest: (model) => setPlan((before) => (before.model === '' ? { ...before, model } : before)),
    /** @param {Filter} filter */
    show: (filter) => {
      setFilter(filter)
      return load(filter)
    },
    loadMore: () => load(filter, tasks),
    refresh,
    /** What a task is called: its prompt, if the page knows it. @param {Task} task */
    titleOf: ({ id, revised_prompt: revised }) => plans.get(id)?.prompt.trim() || revised || id,
    /** What was entered for a task, if this browser knows it. @param {string} id */
    planOf: (id) => plans.get(id),
    /**
     * Sends the form, and returns the new task's id. Throws ApiError. After a lost response, the same form creates no
     * second task.
     */
    create: async () => {
      const made = requestOf(plan)
      if ('problem' in made) throw new ApiError(0, t.videos.problems[made.problem])
      const id = await createTask(api, made.body, keys.keyOf(made.body))
      keys.succeeded()
      setPlans((before) => new Map([...before, [id, plan]]))
      void kept.put(id, plan)
      await refresh(id).catch(() => {})
      setState(({ total = 0, ...rest }) => ({ ...rest, total: total + 1 }))
      return id
    },
    /** Cancels or deletes. @param {Task} task */
    remove: async (task) => {
      await removeTask(api, task)
      if (!hasEnded(task)) return refresh(task.id)
      forget(task.id)
      void kept.remove(task.id)
      setState(({ total = 1, ...rest }) => ({ ...rest, total: total - 1 }))
      return undefined
    },
  }
}

/** @param {Task} task */
const announce = ({ status }) =>
  showToast(t.videos.announced[status], { isError: status === 'failed' || status === 'expired' })
