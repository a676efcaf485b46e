/** Parts of the names of models that do something else: embeddings, speech, pictures, videos, checks. */
const others =
  /embed|rerank|whisper|transcri|speech|\btts\b|-tts|tts-|audio-|dall-e|imagen|seedream|seedance|seededit|stable-diffusion|flux|text-to|moderation|\bocr\b|sora|veo-|bge-|e5-/i

/**
 * Whether a model of the list chats. Some servers say what a model's answers are; of others only the names tell.
 * @param {{ id: string, architecture?: { output_modalities?: readonly string[] }, output_modalities?: readonly string[],
 * type?: string }} model
 */
export const isChatModel = ({ id, architecture, output_modalities, type }) => {
  const outputs = architecture?.output_modalities ?? output_modalities
  if (Array.isArray(outputs)) return outputs.includes('text')
  if (typeof type === 'string' && /embed|rerank|image|audio|video|moderation/i.test(type)) return false
  return !others.test(id)
}
