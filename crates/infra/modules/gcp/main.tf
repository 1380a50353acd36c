# One Compute Engine machine in a network of its own, reachable by SSH from one address.
# Google deletes it after the time limit, whatever happens on the machine.
# The project comes from GOOGLE_PROJECT or from the configuration of gcloud.

terraform {
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 5.20"
    }
  }
}

provider "google" {
  region = local.region
}

locals {
  # `us-central1-b` names a zone; of a region, the first zone is used.
  is_zone = can(regex("-[a-z]$", var.region))
  region  = local.is_zone ? replace(var.region, "/-[a-z]$/", "") : var.region
  zone    = local.is_zone ? var.region : data.google_compute_zones.up[0].names[0]
  labels  = merge(var.tags, { created-by = "bancada" })
}

data "google_compute_zones" "up" {
  count  = local.is_zone ? 0 : 1
  region = local.region
  status = "UP"
}

# Created before the machine and held by it: while a machine exists that Terraform has lost, this
# cannot be destroyed, and `bancada infra list` goes on showing the machine.
resource "google_compute_network" "machine" {
  name                    = var.name
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "machine" {
  name          = var.name
  region        = local.region
  network       = google_compute_network.machine.id
  ip_cidr_range = "10.231.0.0/24"
}

resource "google_compute_firewall" "ssh" {
  name          = "${var.name}-ssh"
  network       = google_compute_network.machine.id
  direction     = "INGRESS"
  source_ranges = [var.caller_cidr]

  allow {
    protocol = "tcp"
    ports    = ["22"]
  }
}

resource "google_compute_instance" "machine" {
  name         = var.name
  machine_type = var.machine_type
  zone         = local.zone
  labels       = local.labels
  depends_on   = [google_compute_firewall.ssh]

  boot_disk {
    auto_delete = true
    initialize_params {
      image = var.image == null ? "debian-cloud/debian-12" : var.image
      size  = var.disk_gigabytes
    }
  }

  network_interface {
    subnetwork = google_compute_subnetwork.machine.id
    access_config {}
  }

  # Debian's images have no cloud-init: Google's own agent runs the script at every start.
  metadata = {
    enable-oslogin         = "FALSE"
    block-project-ssh-keys = "TRUE"
    ssh-keys               = "bancada:${var.ssh_public_key}"
    startup-script         = var.user_data
  }

  scheduling {
    provisioning_model          = var.spot ? "SPOT" : "STANDARD"
    preemptible                 = var.spot
    automatic_restart           = false
    on_host_maintenance         = "TERMINATE"
    instance_termination_action = "DELETE"
    max_run_duration {
      seconds = var.time_limit_seconds
    }
  }
}

output "address" {
  value = google_compute_instance.machine.network_interface[0].access_config[0].nat_ip
}

output "user" {
  value = "bancada"
}

output "boot" {
  value = "Google deletes the machine and its disk ${var.time_limit_seconds} s after its start."
}
