export { cancelDeliveries } from './cancel-deliveries.js';
export { type DeliveryWorker, type DeliveryWorkerOptions, startDeliveryWorker } from './delivery-worker.js';
export { redeliver } from './redeliver.js';
export { MAX_REPLAYED, type Replay, type Replayed, replay } from './replay.js';
export { sendTestDelivery } from './send-test-delivery.js';
export { SECRET_PREFIX } from './signed-post.js';
export { DELIVERIES_DUE, deliveriesTopic } from './topics.js';
export { vetWebhookUrl } from './vet-url.js';
