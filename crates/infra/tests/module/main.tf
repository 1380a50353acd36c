# A machine for tests, without a cloud: its own network, processes, users and files on this machine.
# It obeys the interface of the real modules; see machine.sh.

variable "name" {
  type = string
}

variable "ends_at" {
  type = string
}

variable "user_data" {
  type      = string
  sensitive = true
}

locals {
  # One of 16,384 networks of four addresses: machines that live at the same time must not share one.
  number  = parseint(substr(sha1(var.name), 0, 4), 16)
  subnet  = "10.231.${floor(local.number / 256)}"
  base    = local.number % 256 - local.number % 4
  gateway = "${local.subnet}.${local.base + 1}"
  address = "${local.subnet}.${local.base + 2}"
  machine = "${path.module}/machine.sh"
}

resource "terraform_data" "network" {
  input            = { name = var.name, machine = local.machine, gateway = local.gateway, address = local.address }
  triggers_replace = [var.name]

  provisioner "local-exec" {
    command = "exec sh \"$MACHINE\" create-network"
    environment = {
      MACHINE = self.output.machine, NAME = self.output.name
      GATEWAY = self.output.gateway, ADDRESS = self.output.address
    }
  }

  provisioner "local-exec" {
    when        = destroy
    command     = "exec sh \"$MACHINE\" destroy-network"
    environment = { MACHINE = self.output.machine, NAME = self.output.name }
  }
}

resource "terraform_data" "machine" {
  input            = { name = var.name, machine = local.machine }
  triggers_replace = [terraform_data.network.id]

  provisioner "local-exec" {
    command     = "exec sh \"$MACHINE\" create"
    environment = { MACHINE = self.output.machine, NAME = self.output.name, USER_DATA = var.user_data }
  }

  provisioner "local-exec" {
    when        = destroy
    command     = "exec sh \"$MACHINE\" destroy"
    environment = { MACHINE = self.output.machine, NAME = self.output.name }
  }
}

output "address" {
  value      = local.address
  depends_on = [terraform_data.machine]
}

output "user" {
  value = "bancada"
}

output "boot" {
  value = "A test machine on this one; it ends itself at ${var.ends_at}."
}
